"""A memory that keeps the newest entries, as a process; a word on its command line is its fault."""

import json
import os
import sys
import time

fault = sys.argv[1] if len(sys.argv) > 1 else ""
kept, capacity = [], 0
for line in sys.stdin:
    request = json.loads(line)
    op, reply = request["op"], {"ok": True}
    if op == "start":
        capacity, reply["search"] = request["capacity"], fault == "search"
    elif op == "add":
        kept = [*kept, {"id": request["id"], "text": request["text"]}][-capacity:]
        if fault == "hang":
            time.sleep(60)
        elif fault == "die":
            sys.exit(3)
        elif fault == "leave":
            os.close(1)
            time.sleep(60)
    elif op == "contents":
        reply = {"entries": kept}
        if fault == "error":
            reply = {"error": "the disk is full"}
        elif fault == "list":
            reply = {"entries": "none"}
        elif fault == "entry":
            reply = {"entries": [{"id": "0"}]}
    elif op == "search":
        reply = {"entries": kept[: request["k"]]}
    print("nonsense" if fault == "nonsense" else json.dumps(reply), flush=True)
