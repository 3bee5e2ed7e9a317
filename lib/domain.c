// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * The domain's life on the host side.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "domain.h"
#include "error.h"
#include "health.h"
#include "join/strays.h"
#include "launch.h"
#include "observe.h"
#include "platform/platform.h"
#include "subdomain.h"

#define DEFAULT_TIMEOUT_NS (30 * INT64_C(1000000000))
#define DEFAULT_TILE_BYTES ((size_t)64 << 10)
#define LARGEST_ELEMENT 8
#define LARGEST_TILE ((size_t)1 << 30)

static pthread_mutex_t domains_lock = PTHREAD_MUTEX_INITIALIZER;
static pld_domain *domains; /* protected by domains_lock */

void pld_domains_lock(void)
{
	pthread_mutex_lock(&domains_lock);
}

void pld_domains_unlock(void)
{
	pthread_mutex_unlock(&domains_lock);
}

void pld_domains_forget_others(const pld_domain *domain)
{
	for (pld_domain *other = domains; other; other = other->next)
		if (other != domain && other->parent != domain &&
		    other->host == domain->host)
			other->platform->forget(other);
}

void pld_domain_enlist(pld_domain *domain)
{
	pld_domains_lock();
	domain->next = domains;
	domains = domain;
	pld_domains_unlock();
}

static void unlist_domain(const pld_domain *domain)
{
	pld_domain **link = &domains;

	pld_domains_lock();
	while (*link && *link != domain)
		link = &(*link)->next;
	if (*link)
		*link = domain->next;
	pld_domains_unlock();
}

bool pld_is_host(const pld_domain *domain)
{
	return !pld_on_rank_side(domain) && domain->host == getpid();
}

int pld_host_only(const pld_domain *domain, const char *op)
{
	if (!domain)
		return pld_error(EINVAL, "%s: domain must not be NULL", op);
	if (pld_on_rank_side(domain))
		return pld_error(EPERM,
				 "%s: only the host side can do this, not rank %d",
				 op, pld_launched(domain)->rank);
	if (!pld_is_host(domain))
		return pld_error(EPERM,
				 "%s: only the process that made the domain can do this",
				 op);
	return 0;
}

static int check_options(const pld_domain_options *options)
{
	if (options->timeout_ns < 0)
		return pld_error(EINVAL, "timeout of %lld ns, wanted 0 or more",
				 (long long)options->timeout_ns);
	if (options->tile_bytes && options->tile_bytes < LARGEST_ELEMENT)
		return pld_error(EINVAL,
				 "staging tile of %zu bytes, wanted at least %d",
				 options->tile_bytes, LARGEST_ELEMENT);
	if (options->tile_bytes > LARGEST_TILE)
		return pld_error(EINVAL,
				 "staging tile of %zu bytes, wanted at most %zu",
				 options->tile_bytes, LARGEST_TILE);
	return 0;
}

static int check_devices(const struct pld_platform *platform,
			 const int *devices, int nranks)
{
	int present = platform->nr_devices();

	if (present < 0)
		return present;
	for (int i = 0; i < nranks; i++) {
		if (devices[i] < 0 || devices[i] >= present)
			return pld_error(ENOENT,
					 "device %d does not exist: platform %s has devices 0 to %d",
					 devices[i], platform->name,
					 present - 1);
		for (int j = 0; j < i; j++)
			if (devices[i] == devices[j])
				return pld_error(EINVAL,
						 "device %d is named twice",
						 devices[i]);
	}
	return 0;
}

static int create(pld_domain *domain, const int *devices,
		  const pld_domain_options *options)
{
	PLD_TRY(check_options(options));
	PLD_TRY(pld_platform_select(options->platform, &domain->platform,
				    domain->platform_reason));
	PLD_TRY(check_devices(domain->platform, devices, domain->nranks));
	for (int i = 0; i < domain->nranks; i++)
		domain->devices[i] = (uint32_t)devices[i];
	domain->timeout_ns = options->timeout_ns ? options->timeout_ns
						 : DEFAULT_TIMEOUT_NS;
	domain->tile_bytes = options->tile_bytes ? options->tile_bytes
						 : DEFAULT_TILE_BYTES;
	domain->observe = !!options->observe;
	domain->oversubscribed = pld_oversubscribed(domain->nranks);
	return domain->platform->create(domain);
}

int pld_domain_create(const int *devices, int nranks,
		      const pld_domain_options *options, pld_domain **domain)
{
	static const pld_domain_options defaults;
	pld_domain *made;
	int error;

	if (!devices || !domain)
		return pld_error(EINVAL,
				 "pld_domain_create: devices and domain must not be NULL");
	if (nranks < 1 || nranks > PLD_MAX_RANKS)
		return pld_error(EINVAL, "%d ranks, wanted 1 to %d", nranks,
				 PLD_MAX_RANKS);
	made = calloc(1, sizeof(*made));
	if (!made)
		return pld_error(ENOMEM, "pld_domain_create: out of memory");
	made->rank = -1;
	made->host = getpid();
	made->nranks = nranks;
	error = create(made, devices, options ? options : &defaults);
	if (error) {
		free(made);
		return error;
	}
	pld_domain_enlist(made);
	*domain = made;
	return 0;
}

void pld_domain_destroy(pld_domain *domain)
{
	if (!domain || pld_on_rank_side(domain))
		return;
	while (domain->subdomains)
		pld_domain_destroy(domain->subdomains);
	pld_subdomain_unlink(domain);
	while (domain->buffers)
		pld_free_window_buffer(domain->buffers);
	pld_observers_destroy(domain);
	pld_strays_forget(domain);
	if (domain->stop_fd)
		close(domain->stop_fd);
	unlist_domain(domain);
	if (pld_is_host(domain))
		domain->platform->destroy(domain);
	else
		domain->platform->forget(domain);
	free(domain);
}

int pld_domain_reset(pld_domain *domain)
{
	PLD_TRY(pld_host_only(domain, "pld_domain_reset"));
	if (domain->parent)
		return pld_error(EINVAL,
				 "pld_domain_reset: a sub-domain is reset with its parent only");
	PLD_TRY(pld_strays_check(domain));
	for (pld_domain *s = domain->subdomains; s; s = s->next_subdomain)
		PLD_TRY(s->platform->reset(s));
	PLD_TRY(domain->platform->reset(domain));
	domain->launched = false;
	domain->broken = 0;
	domain->abort_code = 0;
	return 0;
}

/* What has no way to fail says "" or 0 of no domain. */
const char *pld_domain_platform(const pld_domain *domain)
{
	return domain ? domain->platform->name : "";
}

const char *pld_domain_platform_reason(const pld_domain *domain)
{
	return domain ? domain->platform_reason : "";
}

int pld_world_size(const pld_domain *domain)
{
	if (!domain)
		return pld_error(EINVAL,
				 "pld.world_size: domain must not be NULL");
	return domain->nranks;
}

/* A child that a rank has forked is no rank. */
static int check_rank(const pld_domain *domain, const char *op)
{
	if (!domain)
		return pld_error(EINVAL, "%s: domain must not be NULL", op);
	if (pld_on_rank_side(domain) && !*domain->alive)
		return pld_unhealthy(domain, op);
	return 0;
}

int pld_nranks(const pld_domain *domain)
{
	PLD_TRY(check_rank(domain, "pld.nranks"));
	return domain->nranks;
}

int pld_rank(const pld_domain *domain)
{
	PLD_TRY(check_rank(domain, "pld.rank"));
	if (domain->outsider)
		return pld_unhealthy(domain, "pld.rank");
	if (domain->rank < 0)
		return pld_error(ENOTCONN,
				 "pld.rank: the host side has no rank");
	return domain->rank;
}

int pld_abort_code(const pld_domain *domain)
{
	return domain ? pld_launched(domain)->abort_code : 0;
}
