"""Listeners on this machine that no page may reach, and that count who comes."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class Trap:
    """TCP and UDP on one port of every address of this machine; `caught` has a line for each visitor."""

    port: int
    caught: list[str] = field(default_factory=list)


@contextmanager
def trap() -> Iterator[Trap]:
    """A trap that is set while the block runs."""
    with socket.create_server(("", 0)) as tcp, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        port = tcp.getsockname()[1]
        udp.bind(("", port))
        set_up = Trap(port)
        tcp.settimeout(0.1)
        udp.settimeout(0.1)
        done = threading.Event()
        threads = [
            threading.Thread(target=_visitors, args=(tcp, done, set_up.caught)),
            threading.Thread(target=_datagrams, args=(udp, done, set_up.caught)),
        ]
        for thread in threads:
            thread.start()
        try:
            yield set_up
        finally:
            done.set()
            for thread in threads:
                thread.join()


def _visitors(listener: socket.socket, done: threading.Event, caught: list[str]) -> None:
    while not done.is_set():
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            continue
        caught.append("tcp")
        connection.close()


def _datagrams(listener: socket.socket, done: threading.Event, caught: list[str]) -> None:
    while not done.is_set():
        try:
            listener.recvfrom(2048)
        except TimeoutError:
            continue
        caught.append("udp")
