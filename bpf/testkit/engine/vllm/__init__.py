# SPDX-License-Identifier: Apache-2.0
"""A stand-in for vLLM V1, with the names and behaviour that observers depend on. It contains no code of vLLM."""

from vllm.standin import CONFIG

__version__ = CONFIG["release"]
