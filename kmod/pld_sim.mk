# SPDX-License-Identifier: GPL-2.0
#
# What pld_sim.ko is made of, for kmod/Kbuild and for the Kbuild above it.
# pld-dir is the way from the including Kbuild's directory to this one: empty
# or with a slash at its end.

pld_sim-y := $(addprefix $(pld-dir),main.o chardev.o ioctl.o device.o domain.o \
	rank.o memory.o window.o mmap.o fault.o export.o import.o wait.o \
	watch.o fence.o show.o debugfs.o trace.o)

# Counts how often each line runs, for the selftests (scripts/coverage.sh). Not
# the kernel's own gcov, which few kernels have.
ifeq ($(PLD_GCOV),y)
pld_sim-y := $(pld-dir)gcov_begin.o $(pld_sim-y) $(pld-dir)gcov_end.o
CFLAGS_GCOV := -fprofile-arcs -ftest-coverage -fprofile-info-section \
	-fno-tree-loop-im
$(foreach o,$(pld_sim-y),$(eval CFLAGS_$(o) += $(CFLAGS_GCOV)))
CFLAGS_REMOVE_$(pld-dir)gcov_begin.o := $(CFLAGS_GCOV)
CFLAGS_REMOVE_$(pld-dir)gcov_end.o := $(CFLAGS_GCOV)
endif

# Inside a kernel tree $(src) is relative to the source tree, or is not,
# depending on the version.
pld-here := $(dir $(lastword $(MAKEFILE_LIST)))
pld-uapi := $(wildcard $(pld-here)../uapi)

# For trace/define_trace.h; for the generated probes.h; for our uapi header,
# which the kernel has itself once this is part of it.
ccflags-y += -I$(pld-here) -I$(obj)/$(pld-dir)
ccflags-y += $(if $(pld-uapi),-I$(pld-uapi))

include $(pld-here)version.mk
CFLAGS_$(pld-dir)main.o += -DPLD_VERSION=\"$(PLD_VERSION)\"

# The kernel's name, and its headers as prerequisites, have the probes done
# again for another kernel and for a changed one.
pld-headers := $(wildcard $(objtree)/include/generated/utsrelease.h \
	$(addprefix $(srctree)/include/linux/,mm.h huge_mm.h pfn_t.h device.h \
	dma-buf.h eventfd.h hrtimer.h module.h))

quiet_cmd_pld_probe = PROBE   $@
      cmd_pld_probe = $(CONFIG_SHELL) $< \
	$(abspath $(objtree)):$(KERNELRELEASE) $(CC) $(NOSTDINC_FLAGS) \
	$(LINUXINCLUDE) $(KBUILD_CPPFLAGS) $(KBUILD_CFLAGS) \
	$(KBUILD_CFLAGS_MODULE) > $@

$(obj)/$(pld-dir)probes.h: $(pld-here)probe.sh $(pld-headers) FORCE
	$(call if_changed,pld_probe)

$(addprefix $(obj)/,$(pld_sim-y)): $(obj)/$(pld-dir)probes.h

targets += $(pld-dir)probes.h
clean-files += $(pld-dir)probes.h
