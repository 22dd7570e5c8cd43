"""A server on this machine that speaks as OpenAI's does, and answers by rule."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = body["messages"][0]["content"]
        self.server.prompts.append(prompt)
        self.server.paths.append(self.path)
        self.server.bodies.append(body)
        self.server.keys.append(self.headers["Authorization"])
        said = self.server.rule(prompt)
        status = said if isinstance(said, int) else 200
        sent = {
            "choices": [{"message": {"content": said}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 3},
        }
        content = json.dumps(sent).encode()
        if status != 200:
            content = self.server.refusal.encode()
        self.send_response(status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Keep quiet."""


@contextmanager
def chat_server(rule):
    """Serve what ``rule`` says to each prompt (a number: that status); gives the server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.rule, server.prompts, server.keys, server.paths, server.bodies = rule, [], [], [], []
    server.refusal, server.headers = "", {}
    server.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
