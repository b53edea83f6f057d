#!/usr/bin/env bash
# Called by tools/demo.sh --prepare with the prefix in DEMO_PREFIX.
exec "$(dirname "${BASH_SOURCE[0]}")/../standin/install.sh" "$DEMO_PREFIX"
