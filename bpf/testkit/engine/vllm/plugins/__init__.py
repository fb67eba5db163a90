# SPDX-License-Identifier: Apache-2.0
"""Loads plugins by entry point. If the import of one fails, this is logged; an exception of a plugin's function ends the process."""

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
