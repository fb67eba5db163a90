# SPDX-License-Identifier: Apache-2.0
"""A stand-in with the names and the behaviour of vLLM V1 that observers depend on. Nothing of vLLM's code is in it."""

from vllm.standin import CONFIG

__version__ = CONFIG["release"]
