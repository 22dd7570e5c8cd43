"""What holds for every test: no display, one thread, no judge, no deadlines."""

import os
import tempfile

from hypothesis import settings

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # pictures in a window that nobody sees
os.environ.setdefault("OMP_NUM_THREADS", "1")  # small matrices: more threads only wait for another
for name in ("URL", "MODEL", "KEY"):  # no test asks a judge that happens to be configured
    os.environ.pop(f"MEMENVS_JUDGE_{name}", None)
os.environ["MEMENVS_STATE"] = tempfile.mkdtemp(prefix="memenvs-state-")  # nor trusts for the user
os.environ["MEMENVS_REGISTRY"] = "/nowhere/materials.json"  # nor sees a user's own materials

# Speed is measured by benchmarks: on a busy machine a deadline fails tests that are right.
settings.register_profile("memenvs", deadline=None)
settings.load_profile("memenvs")
