"""A store of objects on the loopback, as S3's: lists and reads a folder's files, each answer late by a latency.

    python3 object_server.py FOLDER --latency 0.05     prints its address, then serves until its standard input ends
"""

import argparse
import http.server
import pathlib
import sys
import threading
import time
import urllib.parse
from xml.sax.saxutils import escape

PAGE = 1000  # keys of one answer, as S3's


class Store(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        time.sleep(self.server.latency)
        address = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(address.query))
        _, _, key = urllib.parse.unquote(address.path).lstrip("/").partition("/")  # the bucket's name is any
        if "list-type" in query:
            return self.answer(200, self.list(query), [("Content-Type", "application/xml")])
        body = self.server.objects.get(key)
        if body is None:
            return self.answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        first, last = self.part(len(body))
        headers = [("ETag", f'"{hash(key) & 0xFFFFFFFF:x}"'), ("Accept-Ranges", "bytes")]
        if first is None:
            return self.answer(200, body, headers)
        self.answer(206, body[first : last + 1], [*headers, ("Content-Range", f"bytes {first}-{last}/{len(body)}")])

    do_HEAD = do_GET

    def part(self, size):
        """First and last byte of the range that is asked for, or None twice."""
        unit, _, ends = self.headers.get("Range", "").partition("=")
        first, _, last = ends.partition("-")
        if unit != "bytes" or not first.isdigit() or int(first) >= size:
            return None, None
        return int(first), min(int(last), size - 1) if last.isdigit() else size - 1

    def list(self, query):
        after = query.get("continuation-token", "")
        keys = sorted(k for k in self.server.objects if k.startswith(query.get("prefix", "")) and k > after)
        more, keys = len(keys) > PAGE, keys[:PAGE]
        contents = "".join(
            f"<Contents><Key>{escape(urllib.parse.quote(k))}</Key><Size>{len(self.server.objects[k])}</Size></Contents>" for k in keys
        )
        end = f"<NextContinuationToken>{escape(keys[-1])}</NextContinuationToken>" if more else ""
        return (
            '<?xml version="1.0"?><ListBucketResult><EncodingType>url</EncodingType>'
            f"{contents}<IsTruncated>{str(more).lower()}</IsTruncated>{end}</ListBucketResult>"
        ).encode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before each answer (0.05)")
    options = parser.parse_args()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Store)
    server.latency = options.latency
    server.objects = {
        path.relative_to(options.folder).as_posix(): path.read_bytes() for path in options.folder.rglob("*") if path.is_file()
    }
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
