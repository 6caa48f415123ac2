#!/bin/sh
# Puts an executable of SCIP into the folder that is given, for milp+process:scip and the tests of file formats: PyPI's pyscipopt has
# SCIP's library, and with it the shell that the executable is.
set -eu
version=6.3.0
folder=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/hedge/pyscipopt-$version
if [ ! -x "$cache/venv/bin/python" ] || [ ! -e "$cache/done" ]; then
	rm -rf "$cache"
	python3 -m venv "$cache/venv"
	"$cache/venv/bin/pip" install -q --disable-pip-version-check --only-binary=:all: "pyscipopt==$version"
	touch "$cache/done"
fi
cat >"$cache/scip.py" <<'END'
import ctypes, glob, importlib.util, os, sys

package = os.path.dirname(importlib.util.find_spec("pyscipopt").origin)
library = ctypes.CDLL(glob.glob(os.path.join(package + ".libs", "libscip-*"))[0])
words = [os.fsencode(word) for word in sys.argv]
okay = library.SCIPrunShell(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None), b"scip.set")
os._exit(0 if okay == 1 else 1)
END
mkdir -p "$folder"
printf '#!/bin/sh\nexec %s/venv/bin/python %s/scip.py "$@"\n' "$cache" "$cache" >"$folder/scip"
chmod +x "$folder/scip"
