# SPDX-License-Identifier: Apache-2.0
"""Part of `check`: how many instructions the kernel's verifier walks, which is the time that a start takes."""

from observed import Observer

# A million is the kernel's own bound, and a third of it took a second.
MOST = 8_000
MOST_OF = {"context_sys_exit": 80_000}  # 6.1 walks a fifth more than newer kernels


def verified(report):
    """No program has become dear to load."""
    with Observer() as observer:
        pass
    over = {name: walked for name, walked in observer.verified.items() if walked > MOST_OF.get(name, MOST)}
    dearest = sorted(observer.verified.items(), key=lambda each: -each[1])[:3]
    report("verified instructions", len(observer.verified) > 10 and not over,
           f"{sum(observer.verified.values())} in {len(observer.verified)} programs, most in {dict(dearest)}"
           + (f"; too many: {over}" if over else ""))
