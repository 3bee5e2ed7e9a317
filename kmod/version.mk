# SPDX-License-Identifier: GPL-2.0
#
# The version of all of pld-sim, module and library. It is here for the module
# to have it inside a kernel tree too.

PLD_VERSION := 0.1.0
