#!/usr/bin/env bash
# Builds the documentation as a searchable site in out/site: bash scripts/site.sh [serve]
#
# MkDocs and its theme are installed into a virtual environment, in ~/.cache/nax-site or in the folder NAX_SITE_VENV. A broken link or
# anchor is an error. `serve` shows the site at http://localhost:8000 and follows changes.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=${NAX_SITE_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/nax-site}
if [ ! -x "$venv/bin/mkdocs" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet "mkdocs==1.6.*" "mkdocs-material==9.*"
fi
if [ "${1:-build}" = serve ]; then
  exec "$venv/bin/mkdocs" serve
fi
exec "$venv/bin/mkdocs" build --strict
