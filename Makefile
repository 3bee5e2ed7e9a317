# SPDX-License-Identifier: GPL-2.0
#
# Builds everything of pld-sim. `make help` lists the targets.
#
# User space goes to $(O), by relative path, so that it builds in a folder
# whose path has spaces. The module is built in $(O)/modules-<kernel>, a
# mirror of its sources made of symbolic links: each kernel has its own
# objects, and the top folder gets the finished module only.

include kmod/version.mk
SOVERSION := 0

O ?= build
# One name for one folder: it is in the dependency files.
override O := $(subst $(CURDIR)/,,$(O))
CFLAGS ?= -O2 -g
PREFIX ?= /usr/local
INCLUDEDIR ?= $(PREFIX)/include
LIBDIR ?= $(PREFIX)/lib
BINDIR ?= $(PREFIX)/bin
DOCDIR ?= $(PREFIX)/share/doc/pld-sim
UDEVDIR ?= $(PREFIX)/lib/udev/rules.d
MANDIR ?= $(PREFIX)/share/man
COMPDIR ?= $(PREFIX)/share/bash-completion/completions

# What libpld itself is linked with. In libpld.pc it stands in Libs.private, not
# as Requires.private: hwloc.pc adds what a static hwloc needs, such as -ludev,
# which on Debian cannot be linked with. libpld.a goes with the shared hwloc.
LIB_LIBS := -lhwloc

# libpld-drm and the tool that stands on it are built where libdrm is.
DRM_CFLAGS := $(shell pkg-config --cflags libdrm 2>/dev/null)
DRM_LIBS := $(shell pkg-config --libs libdrm 2>/dev/null)

export PLD_CACHE ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/pld-sim
KDIR ?= $(or $(wildcard /lib/modules/$(shell uname -r)/build),$(PLD_CACHE)/6.1/build)
KSFT_DIR ?= $(PLD_CACHE)/source/tools/testing/selftests

# What is given to this make on its command line (CC, O, V...) means something
# else to Kbuild; sub-makes are told explicitly.
MAKEOVERRIDES :=
export O CC

ifeq ($(V),1)
Q :=
say := @:
else
Q := @
say = @printf '  %-7s %s\n'
MAKEFLAGS += --no-print-directory
endif

# 1. User space.

PLD_INC := -Ilib/include -Ilib-drm/include -Ilib -Iuapi -Itools
PLD_CPPFLAGS := $(PLD_INC) -D_GNU_SOURCE -DPLD_VERSION='"$(PLD_VERSION)"'
PLD_CFLAGS := -std=gnu11 -Wall -Wextra -fPIC -fvisibility=hidden

LIB_OBJS := $(patsubst %.c,$(O)/obj/%.o,$(wildcard lib/*.c lib/*/*.c))
TOOLS := $(notdir $(patsubst %/,%,$(dir $(wildcard tools/*/main.c))))
# What a tool needs besides libpld; without it the tool is not built.
pld-drm_LIBS := $(DRM_LIBS)
pld-info_LIBS := -ljansson
pld-info_NEEDS := jansson.h of libjansson-dev
pld-bench_LIBS := -ljansson -lm
pld-bench_NEEDS := $(pld-info_NEEDS)
HAS_JANSSON := $(shell $(CC) $(CPPFLAGS) -include jansson.h -fsyntax-only \
	-x c /dev/null 2>/dev/null && echo y)
SKIPPED_TOOLS := $(if $(HAS_JANSSON),,$(filter pld-info pld-bench,$(TOOLS)))
override TOOLS := $(filter-out $(SKIPPED_TOOLS) $(if $(DRM_LIBS),,pld-drm),\
	$(TOOLS))
TOOL_COMMON := $(patsubst %.c,$(O)/obj/%.o,$(wildcard tools/common/*.c))
EXAMPLES := $(patsubst tools/examples/%.c,%,$(wildcard tools/examples/[0-9]*.c))
EXAMPLE_COMMON := $(patsubst %.c,$(O)/obj/%.o,\
	$(wildcard tools/examples/[a-z]*.c)) $(TOOL_COMMON)
LIB_A := $(O)/libpld.a
LIB_SO := $(O)/libpld.so.$(SOVERSION)
DRM_OBJS := $(patsubst %.c,$(O)/obj/%.o,$(wildcard lib-drm/*.c))
DRM_A := $(O)/libpld-drm.a
DRM_SO := $(O)/libpld-drm.so.$(SOVERSION)

.DEFAULT_GOAL := all
all: userland modules_if_possible

userland: lib tools $(TOOLS)

lib: $(LIB_A) $(LIB_SO) $(O)/libpld.so \
	$(if $(DRM_LIBS),$(DRM_A) $(DRM_SO) $(O)/libpld-drm.so,no_drm)

no_drm:
	@echo 'libpld-drm and pld-drm are not built: pkg-config finds no libdrm' \
		'(apt-get install libdrm-dev)'

tools: $(TOOLS:%=$(O)/tools/%) $(EXAMPLES:%=$(O)/examples/%)
	@$(foreach t,$(SKIPPED_TOOLS),echo '$(t) is not built: there is no $($(t)_NEEDS) (make setup installs it)';)true

# Objects depend on how they are compiled.
FLAGS := $(CC) $(CFLAGS) $(CPPFLAGS) $(LDFLAGS) $(PLD_CFLAGS) $(PLD_CPPFLAGS)
$(O)/obj/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(FLAGS))' > $@

$(O)/obj/%.o: %.c $(O)/obj/flags
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PLD_CPPFLAGS) $(PLD_CFLAGS) $(CFLAGS) \
		-MMD -MP -c $< -o $@

# So that a source that is gone does not live on in the library.
$(O)/obj/lib.list: FORCE
	@mkdir -p $(@D)
	@echo '$(LIB_OBJS)' | cmp -s - $@ || echo '$(LIB_OBJS)' > $@

$(LIB_A): $(LIB_OBJS) $(O)/obj/lib.list
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJS)

$(LIB_SO): $(LIB_OBJS) $(O)/obj/lib.list lib/libpld.map
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) \
		$(if $(findstring -fsanitize,$(CFLAGS)),,-Wl,-z,defs) \
		-Wl,--version-script=lib/libpld.map \
		$(LIB_OBJS) $(LIB_LIBS) -o $@

$(O)/obj/lib-drm/%.o $(O)/obj/tools/pld-drm/%.o: PLD_CPPFLAGS += $(DRM_CFLAGS)

$(DRM_A): $(DRM_OBJS)
	$(say) AR $@
	$(Q)rm -f $@ && $(AR) rcs $@ $(DRM_OBJS)

$(DRM_SO): $(DRM_OBJS) $(LIB_SO) lib-drm/libpld-drm.map
	$(say) LD $@
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(@F) \
		$(if $(findstring -fsanitize,$(CFLAGS)),,-Wl,-z,defs) \
		-Wl,--version-script=lib-drm/libpld-drm.map \
		$(DRM_OBJS) $(LIB_SO) $(DRM_LIBS) -o $@

$(O)/libpld.so $(O)/libpld-drm.so: %.so: %.so.$(SOVERSION)
	$(Q)ln -sf $(<F) $@

# A tool is a folder; it is linked statically with libpld, to start anywhere,
# and with <tool>_A and <tool>_LIBS of its own before that.
pld-drm_A := $(DRM_A)
define tool_rule
$(1)_OBJS := $$(patsubst %.c,$$(O)/obj/%.o,$$(wildcard tools/$(1)/*.c)) \
	$$(TOOL_COMMON)
$$(O)/tools/$(1): $$($(1)_OBJS) $$($(1)_A) $$(LIB_A)
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$($(1)_OBJS) $$($(1)_A) $$(LIB_A) \
		$$($(1)_LIBS) $$(LIB_LIBS) -o $$@
# By content: builds in several folders share the one in the top folder.
$(1): $$(O)/tools/$(1) FORCE
	@cmp -s $$< $$@ || { printf '  %-7s %s\n' COPY $$@; cp $$< $$@; }
-include $$($(1)_OBJS:.o=.d)
endef
$(foreach t,$(TOOLS),$(eval $(call tool_rule,$(t))))

# A program of the tutorial is a file; what they share is linked with each.
$(EXAMPLES:%=$(O)/examples/%): $(O)/examples/%: \
		$(O)/obj/tools/examples/%.o $(EXAMPLE_COMMON) $(LIB_A)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $< $(EXAMPLE_COMMON) $(LIB_A) \
		$(LIB_LIBS) -o $@
-include $(LIB_OBJS:.o=.d) $(DRM_OBJS:.o=.d) $(EXAMPLE_COMMON:.o=.d)
-include $(EXAMPLES:%=$(O)/obj/tools/examples/%.d)

# 2. The module.

ABS_O := $(if $(filter /%,$(O)),$(O),$(CURDIR)/$(O))
UTSRELEASE := include/generated/utsrelease.h
KRELEASE = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	"$(KDIR)/$(UTSRELEASE)" 2>/dev/null)
KBUILD_DIR = $(ABS_O)/modules-$(KRELEASE)
KBUILD_MAKE = $(MAKE) -C $(KDIR) M=$(KBUILD_DIR) \
	CONFIG_DEBUG_INFO_BTF_MODULES= \
	$(if $(C),C=$(C)) $(if $(W),W=$(W)) $(if $(V),V=$(V)) \
	$(if $(KCC),CC=$(KCC)) \
	$(if $(filter y,$(KCOV)),KCOV_INSTRUMENT=y) \
	$(if $(filter y,$(GCOV)),PLD_GCOV=y)

spaced = $(filter-out 1,$(words $(1)))
HEADERS_HINT = no kernel headers in KDIR=$(KDIR) (make setup fetches some; \
	or apt-get install linux-headers-amd64; or make KDIR=...)
modules_refused = $(strip \
	$(if $(call spaced,$(ABS_O))$(call spaced,$(KDIR)),Kbuild cannot build a \
	module in a path with spaces: $(ABS_O),\
	$(if $(wildcard Kbuild),,no module sources in this tree) \
	$(if $(wildcard $(KDIR)/$(UTSRELEASE)),,$(HEADERS_HINT))))

modules_if_possible:
	@$(if $(modules_refused),echo 'pld_sim.ko is not built: $(modules_refused)',\
		$(MAKE) modules KDIR='$(KDIR)' C=$(C) W=$(W) V=$(V) KCC=$(KCC))

modules_build:
	@$(if $(modules_refused),echo 'error: $(modules_refused)' >&2; exit 1)
	$(Q)scripts/mirror-kmod.sh '$(KBUILD_DIR)'
	+$(Q)$(KBUILD_MAKE) modules

# Modules that only tests need, in $(O)/test-modules-<kernel>.
TEST_DIR = $(ABS_O)/test-modules-$(KRELEASE)
test_modules:
	@$(if $(modules_refused),echo 'error: $(modules_refused)' >&2; exit 1)
	$(Q)mkdir -p '$(TEST_DIR)' && ln -sf $(CURDIR)/selftests/modules/* '$(TEST_DIR)'
	+$(Q)$(subst $(KBUILD_DIR),$(TEST_DIR),$(KBUILD_MAKE)) modules

modules: modules_build
	$(Q)cmp -s '$(KBUILD_DIR)/pld_sim.ko' pld_sim.ko || \
		cp '$(KBUILD_DIR)/pld_sim.ko' pld_sim.ko

modules_install: modules
	+$(Q)$(KBUILD_MAKE) modules_install \
		$(if $(DESTDIR),INSTALL_MOD_PATH='$(DESTDIR)')

# 3. Tests.

# What selftests are compiled with besides their own.
KSFT_CFLAGS ?= $(CFLAGS)
KSFT_MAKE = $(MAKE) -C selftests KSFT_DIR='$(KSFT_DIR)' \
	OUTPUT='$(ABS_O)/selftests' \
	PLD_INC='-I$(CURDIR)/lib/include -I$(CURDIR)/uapi' \
	PLD_LIB='$(ABS_O)/libpld.a' PLD_LIBS='$(LIB_LIBS)' \
	$(if $(DRM_LIBS),PLD_DRM_LIB='$(ABS_O)/libpld-drm.a' \
		PLD_DRM_CFLAGS='-I$(CURDIR)/lib-drm/include $(DRM_CFLAGS)' \
		PLD_DRM_LIBS='$(DRM_LIBS)')
KSFT_INSTALL = $(ABS_O)/kselftest_install
selftests_refused = $(strip \
	$(if $(call spaced,$(ABS_O))$(call spaced,$(KSFT_DIR)),kselftest cannot \
	build in a path with spaces: $(ABS_O),\
	$(if $(wildcard $(KSFT_DIR)/lib.mk),,no kselftest in $(KSFT_DIR) \
	(make setup fetches it))))

selftests: lib
	@$(if $(selftests_refused),echo 'error: $(selftests_refused)' >&2; exit 1)
	$(Q)mkdir -p '$(ABS_O)/selftests'
	+$(Q)CFLAGS='$(KSFT_CFLAGS)' LDFLAGS='$(LDFLAGS)' $(KSFT_MAKE) all

# The same folder that `make install` of a kernel's kselftest makes.
selftests_install: selftests tools
	$(Q)rm -rf '$(KSFT_INSTALL)' && mkdir -p '$(KSFT_INSTALL)'
	$(Q)cp -R '$(KSFT_DIR)/kselftest' '$(KSFT_DIR)/run_kselftest.sh' \
		'$(KSFT_INSTALL)'
	+$(Q)CFLAGS='$(KSFT_CFLAGS)' LDFLAGS='$(LDFLAGS)' $(KSFT_MAKE) install \
		INSTALL_PATH='$(KSFT_INSTALL)/drivers/pld_sim' > /dev/null
	+$(Q)$(KSFT_MAKE) -s emit_tests COLLECTION=drivers/pld_sim \
		> '$(KSFT_INSTALL)/kselftest-list.txt'
	$(Q)cp scripts/kselftest-run scripts/kernel-log-splats \
		'$(KSFT_INSTALL)'

kselftest: selftests_install
	$(Q)PLD_ALLGATHER='$(ABS_O)/tools/pld-allgather' \
		PLD_DRM='$(ABS_O)/tools/pld-drm' \
		PLD_BENCH='$(ABS_O)/tools/pld-bench' \
		PLD_EXAMPLES='$(ABS_O)/examples' \
		'$(KSFT_INSTALL)/kselftest-run'

check:
	$(Q)scripts/check.sh

check-debug:
	$(Q)scripts/check-debug.sh $(KERNELS)

check-races:
	$(Q)scripts/check-races.sh

check-signals:
	$(Q)scripts/check-signals.sh

bench: tools
	$(Q)scripts/bench.sh

bench-guest:
	$(Q)KERNELS='$(KERNELS)' scripts/bench-guest.sh

demo:
	$(Q)HOST='$(HOST)' scripts/demo.sh

setup:
	$(Q)scripts/setup.sh

.PHONY: fuzz fuzz-user coverage

fuzz:
	$(Q)MINUTES='$(MINUTES)' SEED='$(SEED)' scripts/fuzz.sh

fuzz-user:
	$(Q)SECONDS_EACH='$(SECONDS)' scripts/fuzz-user.sh

coverage:
	$(Q)KERNEL='$(KERNEL)' scripts/coverage.sh

deb:
	$(Q)scripts/build-deb.sh

check-deb:
	$(Q)scripts/check-deb.sh

check-models:
	$(Q)scripts/check-models.sh

check-storms:
	$(Q)KERNEL='$(KERNEL)' scripts/check-storms.sh

# 4. Manual pages: a file of man/ each, with an alias for each name it describes.

MAN_SOURCES := $(wildcard man/*.scd)

man: $(if $(shell command -v scdoc),$(O)/man/made)
	$(if $^,@:,@echo 'no manual pages are made: scdoc is missing (make setup)')

$(O)/man/made: $(MAN_SOURCES) $(wildcard lib*/include/*.h) scripts/build-man.sh \
		scripts/man-declarations scripts/man-names kmod/version.mk
	$(say) MAN '$(@D)'
	$(Q)scripts/build-man.sh '$(@D)' $(PLD_VERSION) $(MAN_SOURCES)

# 5. Installation.

# dest VARIABLE: that folder as it is during installation.
dest = $(DESTDIR)$($(1))

define PC
prefix=$(PREFIX)
includedir=$(INCLUDEDIR)
libdir=$(LIBDIR)

Name: libpld
Description: Symmetric windows, signals and collectives between ranks
Version: $(PLD_VERSION)
Cflags: -I$${includedir}
Libs: -L$${libdir} -lpld
Libs.private: $(LIB_LIBS)
endef
export PC

define DRM_PC
prefix=$(PREFIX)
includedir=$(INCLUDEDIR)
libdir=$(LIBDIR)

Name: libpld-drm
Description: Windows of libpld as buffers of DRM devices, and back
Version: $(PLD_VERSION)
Requires: libpld = $(PLD_VERSION), libdrm
Cflags: -I$${includedir}
Libs: -L$${libdir} -lpld-drm
endef
export DRM_PC

# A part of install.
install_drm: lib
	$(Q)install -d "$(call dest,INCLUDEDIR)" "$(call dest,LIBDIR)/pkgconfig"
	$(Q)install -m 644 lib-drm/include/pld_drm.h "$(call dest,INCLUDEDIR)"
	$(Q)install -m 644 $(DRM_A) "$(call dest,LIBDIR)"
	$(Q)install -m 755 $(DRM_SO) "$(call dest,LIBDIR)"
	$(Q)ln -sf $(notdir $(DRM_SO)) "$(call dest,LIBDIR)/libpld-drm.so"
	$(Q)echo "$$DRM_PC" > "$(call dest,LIBDIR)/pkgconfig/libpld-drm.pc"

install: lib tools man $(if $(DRM_LIBS),install_drm)
	$(say) INSTALL '$(DESTDIR)$(PREFIX)'
	$(Q)install -d "$(call dest,INCLUDEDIR)/linux" \
		"$(call dest,DOCDIR)/doc" \
		"$(call dest,LIBDIR)/pkgconfig" "$(call dest,BINDIR)" \
		"$(call dest,UDEVDIR)"
	$(Q)install -m 644 lib/include/*.h "$(call dest,INCLUDEDIR)"
	$(Q)install -m 644 uapi/linux/pld_sim.h "$(call dest,INCLUDEDIR)/linux"
	$(Q)install -m 644 $(LIB_A) "$(call dest,LIBDIR)"
	$(Q)install -m 755 $(LIB_SO) "$(call dest,LIBDIR)"
	$(Q)ln -sf $(notdir $(LIB_SO)) "$(call dest,LIBDIR)/libpld.so"
	$(Q)echo "$$PC" > "$(call dest,LIBDIR)/pkgconfig/libpld.pc"
	$(Q)for tool in $(TOOLS); do \
		install -m 755 "$(O)/tools/$$tool" "$(call dest,BINDIR)"; done
	$(Q)install -m 644 scripts/70-pld-sim.rules "$(call dest,UDEVDIR)"
	$(Q)install -d "$(call dest,COMPDIR)"
	$(Q)for tool in $(TOOLS); do \
		install -m 644 completions/pld.bash "$(call dest,COMPDIR)/$$tool"; \
		done
	$(Q)for page in '$(O)'/man/man*/*; do [ ! -e "$$page" ] || install -D -m 644 \
		"$$page" "$(call dest,MANDIR)/$${page#'$(O)/man/'}"; done
	$(Q)install -m 644 README.md CONTRIBUTING.md SECURITY.md "$(call dest,DOCDIR)"
	$(Q)install -m 644 doc/*.md doc/*.svg "$(call dest,DOCDIR)/doc"
	$(Q)sed -i "s|(lib/include/pld\.h)|($$(realpath -m \
		--relative-to="$(call dest,DOCDIR)" \
		"$(call dest,INCLUDEDIR)/pld.h"))|" "$(call dest,DOCDIR)/README.md"
	$(Q)sed -i "s|(\.\./lib/include/\(pld[a-z_]*\.h\))|($$(realpath -m \
		--relative-to="$(call dest,DOCDIR)/doc" \
		"$(call dest,INCLUDEDIR)")/\1)|" "$(call dest,DOCDIR)/doc"/*.md
	$(Q)install -d "$(call dest,DOCDIR)/examples/common"
	$(Q)install -m 644 tools/examples/*.[ch] tools/examples/README.md \
		"$(call dest,DOCDIR)/examples"
	$(Q)install -m 644 tools/common/*.[ch] \
		"$(call dest,DOCDIR)/examples/common"
	$(Q)sed -i 's|(tools/examples/|(examples/|' "$(call dest,DOCDIR)/README.md"
	$(Q)sed -i 's|(\.\./\.\./|(../|' "$(call dest,DOCDIR)/examples/README.md"
	$(Q)[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || true

uninstall:
	$(Q)for header in lib/include/*.h; do \
		rm -f "$(call dest,INCLUDEDIR)/$${header##*/}"; done
	$(Q)rm -f \
		"$(call dest,INCLUDEDIR)/linux/pld_sim.h" \
		"$(call dest,LIBDIR)/libpld.a" "$(call dest,LIBDIR)/libpld.so" \
		"$(call dest,LIBDIR)/libpld.so.$(SOVERSION)" \
		"$(call dest,LIBDIR)/pkgconfig/libpld.pc" \
		"$(call dest,UDEVDIR)/70-pld-sim.rules"
	$(Q)rm -f "$(call dest,INCLUDEDIR)/pld_drm.h" \
		"$(call dest,LIBDIR)/libpld-drm.a" \
		"$(call dest,LIBDIR)/libpld-drm.so" \
		"$(call dest,LIBDIR)/libpld-drm.so.$(SOVERSION)" \
		"$(call dest,LIBDIR)/pkgconfig/libpld-drm.pc"
	$(Q)for tool in $(TOOLS); do rm -f "$(call dest,BINDIR)/$$tool" \
		"$(call dest,COMPDIR)/$$tool"; done
	$(Q)for page in '$(O)'/man/man*/*; do \
		rm -f "$(call dest,MANDIR)/$${page#'$(O)/man/'}"; done
	$(Q)rm -rf "$(call dest,DOCDIR)"

# 6. The rest.

clean:
	$(Q)cd '$(O)' 2>/dev/null && rm -rf obj tools examples libpld.* modules-* \
		libpld-drm.* test-modules-* selftests kselftest_install check \
		vm-logs man deb check-deb.log check-debug \
		check-races bench bench-guest || true
	$(Q)rm -f $(TOOLS) pld_sim.ko

# Kbuild leaves its objects beside the sources when it is called directly.
distclean: clean
	$(Q)-rmdir '$(O)' 2>/dev/null
	$(Q)rm -f Module.symvers modules.order .Module.symvers.cmd \
		.modules.order.cmd kmod/probes.h
	$(Q)find . kmod -maxdepth 1 \( -name '*.o' -o -name '.*.cmd' \
		-o -name '*.ko' -o -name '*.mod' -o -name '*.mod.c' \) -delete

help:
	@sed -n '/^# HELP/,$$s/^# \{0,1\}//p' Makefile | sed 1d

FORCE:
.DELETE_ON_ERROR:
.PHONY: all userland lib tools modules_if_possible modules_build modules \
	modules_install test_modules selftests selftests_install kselftest check demo \
	setup check-debug check-races check-storms bench bench-guest no_drm deb check-deb \
	man install install_drm uninstall clean distclean help FORCE \
	check-models check-signals

# HELP
# Targets:
#   all              libpld, libpld-drm, the tools and the module (the default)
#   lib, tools       only these; results in $(O), the tutorial's programs in
#                    $(O)/examples
#   modules          only the module, pld_sim.ko
#   modules_install  install the module for the kernel of KDIR
#   modules_build    the same, but leave it in $(O)/modules-<kernel>
#   test_modules     what only tests need of modules, in $(O)/test-modules-<kernel>
#   kselftest        build and run the tests on this machine
#   selftests, selftests_install  only build them; the latter as a folder that
#                    can be copied, $(O)/kselftest_install
#   demo             the allgather in both modes, on memfd and in a virtual
#                    machine (HOST=1: on this machine's own kernel)
#   check            the tests, on both platforms; takes some minutes
#   check-debug      all selftests, RUNS=3 times each, on kernels with KASAN,
#                    lockdep, kmemleak and more (KERNELS="6.12 6.1"), which are
#                    built first, once
#   check-races      MINUTES=5 of stress with a module that KCSAN watches
#   check-signals    the tests while each of their processes gets 1,000 signals a
#                    second, here also ones that interrupt system calls
#   bench            the allgather beside OpenMPI, MPICH and OpenSHMEM, and more
#                    (as root, installs them; takes some minutes)
#   bench-guest      the module's wait and ring beside a futex, in virtual machines
#                    (KERNELS="6.12 6.1"; takes some minutes)
#   fuzz             random programs of the module's calls, for MINUTES=30, on
#                    the kernel with KASAN and more
#   fuzz-user        random bytes for what reads some in user space, for
#                    SECONDS=60 each
#   coverage         which lines of the module the selftests run (KERNEL=6.12)
#   man              the manual pages, in $(O)/man (man -M build/man pld)
#   deb              Debian packages, in $(O)/deb
#   check-deb        install these in a clean Debian, boot it, use and purge them
#                    there (as root; takes some minutes)
#   check-models     look at every state of the models of the protocols, in models/
#                    (needs spin; takes some minutes)
#   check-storms     kills, bad citizens, crashes and litmus, in full: KERNEL=6.12
#                    (or 6.1, none) is the guest's kernel; takes some minutes
#   install          libpld, headers, pkg-config file, tools, udev rule, manual
#                    pages, completions, documents, sources of the tutorial
#   uninstall        remove what install installed
#   setup            install what building and testing need (check and demo
#                    do so themselves)
#   clean            remove what was built
#   distclean        and what Kbuild left when it was called directly
#
# Variables:
#   O=build          where results go
#   V=1              show the commands
#   CC, CFLAGS, LDFLAGS  of user space
#   KDIR=...         headers or build tree of the kernel to build the module
#                    for (default: the running kernel's, else Debian's 6.1
#                    from the cache)
#   KCOV=y           have the kernel's KCOV see where the module is
#   GCOV=y           have the module count how often each line runs
#   C=1, W=1         Kbuild's own: run sparse, more warnings
#   DESTDIR, PREFIX  of install (PREFIX=/usr/local)
#   PLD_CACHE        where kernel packages are kept (~/.cache/pld-sim)
