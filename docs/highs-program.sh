#!/bin/sh
# Puts an executable of HiGHS, PyPI's highsbox, into the folder that is given, for milp+process:highs and its tests.
set -eu
version=1.15.1
folder=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hedge/highsbox-$version
if [ ! -x "$cache/venv/bin/python" ] || [ ! -e "$cache/done" ]; then
	rm -rf "$cache"
	python3 -m venv "$cache/venv"
	"$cache/venv/bin/pip" install -q --disable-pip-version-check "highsbox==$version"
	touch "$cache/done"
fi
root=$("$cache/venv/bin/python" -c 'import highsbox, os; print(os.path.join(os.path.dirname(highsbox.__file__), "highs_dist"))')
mkdir -p "$folder"
printf '#!/bin/sh\nLD_LIBRARY_PATH=%s/lib exec %s/bin/highs "$@"\n' "$root" "$root" >"$folder/highs"
chmod +x "$folder/highs"
