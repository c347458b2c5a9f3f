"""Parameters of the kernel's command line that are disclosed: those documented to change how fast a machine is.

Whatever else stands there, such as addresses, devices and words of who operates the machine, is never collected.
"""

from __future__ import annotations

import re

from bakeoff.disclosure.collect.answer import Answer

# Of the kernel's documentation, "The kernel's command-line parameters".
PARAMETERS = (
    *("mitigations", "spectre_v2", "spectre_v2_user", "spec_store_bypass_disable", "spec_rstack_overflow", "l1tf"),
    *("mds", "tsx", "tsx_async_abort", "retbleed", "srbds", "mmio_stale_data", "gather_data_sampling"),
    *("nospectre_v1", "nospectre_v2", "nospectre_bhb", "spectre_bhi", "pti", "nopti", "kpti"),
    *("nosmt", "smt", "maxcpus", "nr_cpus", "mem", "isolcpus", "nohz", "nohz_full", "rcu_nocbs", "rcu_nocb_poll"),
    *("irqaffinity", "threadirqs", "preempt", "skew_tick", "sched_verbose", "tickless", "highres", "hpet"),
    *("transparent_hugepage", "hugepages", "hugepagesz", "default_hugepagesz", "numa", "numa_balancing"),
    *("intel_pstate", "amd_pstate", "intel_idle.max_cstate", "processor.max_cstate", "idle", "cpuidle.off"),
    *("cpufreq.default_governor", "cpufreq.off", "clocksource", "tsc", "iommu", "intel_iommu", "amd_iommu"),
    *("elevator", "nvme.poll_queues", "nvme_core.io_timeout", "audit", "selinux", "apparmor", "psi"),
)
PART = "kernel parameters"
_WORD = re.compile(r"[A-Za-z0-9_.-]{1,60}(=[A-Za-z0-9_.,:+-]{1,200})?")


def kernel_parameters(answer: Answer) -> str:
    """`mitigations=auto nohz_full=2-7`, without whatever is not listed or says something else than a plain value."""
    words = answer.line(PART).split()
    return " ".join(word for word in words if word.partition("=")[0] in PARAMETERS and _WORD.fullmatch(word))
