# SPDX-License-Identifier: Apache-2.0
"""Loads the plugins of vLLM that are installed, like vLLM: by their entry points. If a plugin cannot be imported, a line in the log says
so; an exception of the plugin's function ends the process."""

import importlib.metadata
import logging
import os

logger = logging.getLogger("vllm.plugins")
loaded = False


def load_general_plugins():
    global loaded
    if loaded:
        return
    loaded = True
    allowed = os.environ.get("VLLM_PLUGINS")
    for entry in importlib.metadata.entry_points(group="vllm.general_plugins"):
        if allowed is None or entry.name in allowed.split(","):
            try:
                function = entry.load()
            except Exception:
                logger.exception("Failed to load plugin %s", entry.name)
                continue
            function()
