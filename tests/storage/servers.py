"""Runs the tests `Servers.*` of a program against nginx and moto's S3 on the loopback.

    python3 servers.py STORAGE_TEST       77 where a server is not installed (pip install 'moto[server]'; apt-get install nginx openssl)
"""

import contextlib
import itertools
import logging
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

NAMES = ["large.bin", "empty", "a folder/with+signs &=%20/\u00fc.bin"]


def missing():
    try:
        import boto3  # noqa: F401
        import moto.server  # noqa: F401
    except ImportError as error:
        return f"python3: {error}"
    for program in ("nginx", "openssl"):
        if not shutil.which(program, path=PATH):
            return f"{program} is not installed"
    return None


class Unfit(Exception):
    """A server that is there, and of no use."""


PATH = os.environ.get("PATH", "") + ":/usr/sbin"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.05)
    raise RuntimeError(f"nothing listens on port {port}")


def start_s3(folder):
    """moto's S3, filled; from then on it checks signatures. Returns its port and a key that may read."""
    import boto3
    import botocore.exceptions
    import moto
    import requests
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
    os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = str(10**9)
    port = free_port()
    ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False).start()
    wait_for(port)
    where = {"endpoint_url": f"http://127.0.0.1:{port}", "region_name": "us-east-1"}
    anyone = {"aws_access_key_id": "any", "aws_secret_access_key": "any"}
    users = boto3.client("iam", **where, **anyone)
    users.create_user(UserName="reader")
    policy = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}'
    users.put_user_policy(UserName="reader", PolicyName="reads", PolicyDocument=policy)
    key = users.create_access_key(UserName="reader")["AccessKey"]
    s3 = boto3.client("s3", **where, **anyone)
    s3.create_bucket(Bucket="bucket")
    for name in NAMES:
        s3.put_object(Bucket="bucket", Key=name, Body=(folder / name).read_bytes())
        s3.put_object(Bucket="bucket", Key="sha256/" + name, Body=(folder / name).read_bytes(), ChecksumAlgorithm="SHA256")
    for i in range(1200):
        s3.put_object(Bucket="bucket", Key=f"many/{i:04} &+", Body=b"number %d" % i)
    requests.post(f"http://127.0.0.1:{port}/moto-api/reset-auth", data="0", timeout=10)
    try:
        own = boto3.client("s3", **where, aws_access_key_id=key["AccessKeyId"], aws_secret_access_key=key["SecretAccessKey"])
        own.get_object(Bucket="bucket", Key=NAMES[2])
        own.list_objects_v2(Bucket="bucket", Prefix="many/")
    except botocore.exceptions.ClientError as error:  # moto before 5.2.5 decodes names before it checks
        raise Unfit(f"moto {moto.__version__} refuses boto3's own requests: {error}") from error
    return port, key


def start_nginx(folder, prefix):
    """nginx, serving the folder; returns the process, its ports (plain and TLS), and the file of its certificate."""
    certificate, key = prefix / "certificate.pem", prefix / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=IP:127.0.0.1", "-out", certificate, "-keyout", key],
        check=True,
        capture_output=True,
    )
    plain, tls = free_port(), free_port()
    temporary = "".join(f"{kind}_temp_path {prefix}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (prefix / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {prefix}/pid; error_log {prefix}/error.log;"
        f"{'user root;' if os.geteuid() == 0 else ''}"
        "events { worker_connections 256; }"
        f"http {{ access_log off; {temporary} server {{ listen 127.0.0.1:{plain}; listen 127.0.0.1:{tls} ssl;"
        f"ssl_certificate {certificate}; ssl_certificate_key {key}; root {folder};"
        f"location = /moved {{ return 302 http://127.0.0.1:{plain}/large.bin; }} }} }}"
    )
    process = subprocess.Popen(["nginx", "-p", prefix, "-c", prefix / "nginx.conf"], env={"PATH": PATH})
    wait_for(plain)
    return process, plain, tls, certificate


def start_proxy(to):
    """A port whose connections go to another, and fail by turns. Four of six work, so that enough attempts come through."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def pump(source, target, limit=None):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                if limit is not None:
                    data = data[:limit]
                    limit -= len(data)
                target.sendall(data)
                if limit == 0:
                    break
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def serve(client, number):
        with client, socket.create_connection(("127.0.0.1", to)) as server:
            kind = number % 6
            if kind == 0:
                return  # cut at once
            if kind == 1:
                client.recv(65536)
                client.sendall(b"HTTP/1.1 503 Slow Down\r\nContent-Length: 4\r\nConnection: close\r\n\r\nslow")
                return
            time.sleep(0.2)
            back = threading.Thread(target=pump, args=(server, client, {2: 150, 3: 50_000, 4: 300_000}.get(kind)))
            back.start()
            pump(client, server)
            back.join()

    def accept():
        for number in itertools.count():
            threading.Thread(target=serve, args=(listener.accept()[0], number), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def main():
    if reason := missing():
        print("skipped:", reason)
        return 77
    with tempfile.TemporaryDirectory(prefix="nax_servers_") as scratch:
        prefix, folder = pathlib.Path(scratch), pathlib.Path(scratch, "objects")
        for name, size in zip(NAMES, (1_234_567, 0, 4_321)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(os.urandom(size))
        for name in [n for n in os.environ if n.startswith(("AWS_", "CURL_", "SSL_CERT"))]:
            del os.environ[name]
        s3, key = start_s3(folder)
        nginx, plain, tls, certificate = start_nginx(folder, prefix)
        try:
            environment = {
                "NAX_TEST_OBJECTS": str(folder),
                "NAX_TEST_S3": f"http://127.0.0.1:{s3}",
                "NAX_TEST_FAULTY_S3": f"http://127.0.0.1:{start_proxy(s3)}",
                "NAX_TEST_HTTP": f"http://127.0.0.1:{plain}",
                "NAX_TEST_HTTPS": f"https://127.0.0.1:{tls}",
                "NAX_TEST_FAULTY_HTTP": f"http://127.0.0.1:{start_proxy(plain)}",
                "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
                "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
                "AWS_CA_BUNDLE": str(certificate),
            }
            return subprocess.run([sys.argv[1], "--gtest_filter=Servers.*"], env=os.environ | environment, check=False).returncode
        finally:
            nginx.terminate()
            nginx.wait()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Unfit as error:
        print("skipped:", error)
        sys.exit(77)
