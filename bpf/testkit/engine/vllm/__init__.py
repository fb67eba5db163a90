# SPDX-License-Identifier: Apache-2.0
"""A stand-in for vLLM V1, with the names and the behaviour on which the plugin and the bridge depend. It contains no code of vLLM."""

from vllm.standin import CONFIG

__version__ = CONFIG["release"]
