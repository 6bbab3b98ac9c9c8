"""A qim client in Python's standard library alone: WebSocket by hand, frames in JSON (docs/protocol.md).

    python3 qim_client.py http://127.0.0.1:7700 alice list
    python3 qim_client.py http://127.0.0.1:7700 alice send bob "Hello"
    python3 qim_client.py http://127.0.0.1:7700 bob listen

Signs in by /dev/login, which a server with --dev has; give QIM_TOKEN for any other. It speaks to http:// alone: for
https:// wrap the socket with the module ssl. One thread: what comes while it waits for a reply is kept in `events`.
"""
import base64
import collections
import hashlib
import json
import os
import socket
import struct
import sys
import urllib.parse
import urllib.request
import uuid

PROTOCOL = "qim.v1+json"
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Closed(Exception):
    """The connection ended; `code` is that of the close frame, 1006 without one."""

    def __init__(self, code):
        super().__init__(f"closed with {code}")
        self.code = code


class CallFailed(Exception):
    """What the server refused. Branch on `reason` (docs/errors.md), never on the message."""

    def __init__(self, error):
        super().__init__(f"{error['reason']}: {error['message']}")
        self.reason = error["reason"]


class WebSocket:
    """RFC 6455, as much of it as a client of qim needs: text messages, pings, close."""

    def __init__(self, url, timeout):
        parts = urllib.parse.urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port or 80), timeout)
        self._buffer = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: {PROTOCOL}\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self._buffer:
            self._more()
        head, self._buffer = self._buffer.split(b"\r\n\r\n", 1)
        accept = base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()
        if not head.startswith(b"HTTP/1.1 101") or accept not in head.decode():
            raise ConnectionError(head.split(b"\r\n")[0].decode())

    def send(self, text):
        self._frame(TEXT, text.encode())

    def receive(self):
        """The next text message, whole; pings are answered meanwhile. Raises Closed, TimeoutError."""
        message = b""
        while True:
            first, second = self._peek(2)
            length, at = second & 0x7F, 2
            if length >= 126:
                size, form = (2, "!H") if length == 126 else (8, "!Q")
                length, at = struct.unpack(form, self._peek(2 + size)[2:])[0], 2 + size
            payload = self._peek(at + length)[at:]
            # Taken only when it is whole: a time-out in the middle of a frame loses nothing.
            self._buffer = self._buffer[at + length:]
            opcode = first & 0x0F
            if opcode == PING:
                self._frame(PONG, payload)
            elif opcode == CLOSE:
                raise Closed(struct.unpack("!H", payload[:2])[0] if len(payload) >= 2 else 1005)
            elif opcode != PONG:
                message += payload
                if first & 0x80:
                    return message.decode()

    def close(self):
        try:
            self._frame(CLOSE, struct.pack("!H", 1000))
        except OSError:
            pass
        self._socket.close()

    def settimeout(self, seconds):
        self._socket.settimeout(seconds)

    def _frame(self, opcode, payload):
        mask, length = os.urandom(4), len(payload)
        if length < 126:
            head = struct.pack("!BB", 0x80 | opcode, 0x80 | length)
        elif length < 65536:
            head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, length)
        else:
            head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, length)
        self._socket.sendall(head + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload)))

    def _peek(self, count):
        while len(self._buffer) < count:
            self._more()
        return self._buffer[:count]

    def _more(self):
        part = self._socket.recv(65536)
        if part == b"":
            raise Closed(1006)
        self._buffer += part


class Client:
    """One connected device. What it holds of each conversation is in `held`, by sequence; events alone never fill it."""

    def __init__(self, server, token, device="python", timeout=30):
        self._ws = WebSocket(server.rstrip("/") + "/ws", timeout)
        self._timeout = timeout
        self._id = 0
        self.events = collections.deque()
        self.held = {}
        self._cursors = {}
        self.welcome = self._ask({"hello": {"token": token, "device": device}}, "welcome", 0)

    def call(self, method, body=None):
        """The reply to a method of the schema, such as SessionService/ListConversations. Raises CallFailed."""
        self._id += 1
        return self._ask({"call": {"method": f"qim.v1.{method}", "body": body or {}}}, "reply", self._id)

    def list(self):
        """All conversations, page by page. A damaged one has no numbers: look for `damaged` before you read a count."""
        conversations, token = [], ""
        while True:
            page = self.call("SessionService/ListConversations", {"pageSize": 100, "pageToken": token})
            conversations += page["conversations"]
            token = page["nextPageToken"]
            if token == "":
                return conversations

    def send(self, text, client_message_id=None, **target):
        """`to_user_id` or `conversation_id`. To try again after a lost connection, give the same client_message_id."""
        names = {"to_user_id": "toUserId", "conversation_id": "conversationId"}
        body = {names[name]: value for name, value in target.items()}
        body.update(clientMessageId=client_message_id or str(uuid.uuid4()), type="MESSAGE_TYPE_TEXT", text=text)
        return self.call("MessageService/SendMessage", body)["message"]

    def mark_read(self, conversation_id, seq):
        body = {"conversationId": conversation_id, "readConversationSeq": str(seq)}
        return int(self.call("SessionService/MarkRead", body)["readConversationSeq"])

    def next_event(self, seconds):
        """One event as a dict with one key, such as messageCommitted; None when none came in time."""
        if self.events:
            return self.events.popleft()
        self._ws.settimeout(seconds)
        try:
            return self._read().get("event")
        except TimeoutError:
            return None
        finally:
            self._ws.settimeout(self._timeout)

    def catch_up(self, conversation_id):
        """Brings what is held up to date, from wherever it was: what is new, and what was amended. Returns the new ones."""
        fresh = []
        epoch, after, cursor = self._cursors.get(conversation_id) or self._beginning(conversation_id)
        while True:
            place = {"conversationId": conversation_id, "epoch": epoch, "afterSeq": after, "amendmentCursor": cursor}
            page = self.call("SessionService/CatchUp", place)
            held = self.held.setdefault(conversation_id, {})
            if page["reset"]:
                # Sequences no longer mean what they meant: begin anew.
                held.clear()
                fresh = []
                epoch, after, cursor = self._beginning(conversation_id)
                continue
            for message in page["messages"] + page["amended"]:
                self._keep(held, message)
            fresh += page["messages"]
            epoch, after, cursor = page["epoch"], page["nextAfterSeq"], page["nextAmendmentCursor"]
            self._cursors[conversation_id] = epoch, after, cursor
            if not page["hasMore"]:
                return fresh

    def close(self):
        self._ws.close()

    def _beginning(self, conversation_id):
        entry = self.call("SessionService/GetConversation", {"conversationId": conversation_id})["conversation"]
        return "0", "0", entry["amendmentCursor"]

    @staticmethod
    def _keep(held, message):
        """Of two states of a message the later one: by revision, then by reactionsRevision."""
        def state(one):
            return one["revision"], one["reactionsRevision"]

        known = held.get(int(message["conversationSeq"]))
        if known is None or state(known) <= state(message):
            held[int(message["conversationSeq"])] = message

    def _ask(self, frame, answer, number):
        self._ws.send(json.dumps({"id": number, **frame}))
        while True:
            got = self._read()
            if "event" in got:
                self.events.append(got["event"])
            elif got["id"] == number and "error" in got:
                raise CallFailed(got["error"])
            elif got["id"] == number:
                return got[answer]

    def _read(self):
        return json.loads(self._ws.receive())


def dev_token(server, user):
    body = json.dumps({"user": user}).encode()
    request = urllib.request.Request(f"{server.rstrip('/')}/dev/login", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)["token"]


def main(server, user, command, *rest):
    client = Client(server, os.environ.get("QIM_TOKEN") or dev_token(server, user))
    if command == "send":
        message = client.send(rest[1], to_user_id=rest[0])
        print(message["conversationId"], message["conversationSeq"])
    for entry in client.list() if command == "list" else []:
        name = entry["title"] or entry["peerUserId"]
        count = "damaged" if "damaged" in entry else f"{entry['unreadCount']}{'' if entry['unreadExact'] else '+'} unread"
        print(entry["conversationId"], name, count)
    while command == "listen":
        print(json.dumps(client.next_event(3600)), flush=True)
    client.close()


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
