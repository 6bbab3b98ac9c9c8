"""What a test of the repository runs (tools/tests/python-client.e2e.test.ts): the client against a real server.

    python3 scene.py http://127.0.0.1:7700

Each line that it prints is something that holds.
"""
import sys

from qim_client import CallFailed, Client, dev_token


def held(client, conversation):
    return [client.held[conversation][seq].get("text") for seq in sorted(client.held[conversation])]


def main(server):
    alice = Client(server, dev_token(server, "alice"))
    bob = Client(server, dev_token(server, "bob"))
    assert bob.welcome["userId"] == "bob"
    print("welcome")

    first = alice.send("one", client_message_id="m1", to_user_id="bob")
    again = alice.send("one", client_message_id="m1", to_user_id="bob")
    assert first["messageId"] == again["messageId"]
    print("a send is safe to repeat")

    chat = first["conversationId"]
    event = bob.next_event(30)
    while "messageCommitted" not in event:
        event = bob.next_event(30)
    assert event["messageCommitted"]["message"]["text"] == "one"
    print("an event came")

    (entry,) = bob.list()
    assert (entry["conversationId"], entry["unreadCount"], entry["unreadExact"]) == (chat, 1, True)
    assert bob.mark_read(chat, 99) == 1
    assert bob.list()[0]["unreadCount"] == 0
    print("the list counts, and a read mark lowers it")

    bob.catch_up(chat)
    assert held(bob, chat) == ["one"]
    bob.close()
    for n in range(120):
        alice.send(f"message {n}", conversation_id=chat)
    place = {"conversationId": chat, "conversationSeq": first["conversationSeq"], "messageId": first["messageId"]}
    alice.call("MessageService/EditMessage", {**place, "text": "one, edited"})
    back = Client(server, dev_token(server, "bob"), device="python again")
    back.held, back._cursors = bob.held, bob._cursors
    assert [message["text"] for message in back.catch_up(chat)] == [f"message {n}" for n in range(120)]
    assert held(back, chat) == ["one, edited"] + [f"message {n}" for n in range(120)]
    assert back.catch_up(chat) == []
    print("what was missed came, page by page, and what was edited")

    long = "€" * 5000
    alice.send(long, conversation_id=chat)
    assert back.catch_up(chat)[0]["text"] == long
    print("a long message came whole")

    try:
        Client(server, dev_token(server, "mallory")).call("SessionService/GetConversation", {"conversationId": chat})
        raise AssertionError("a stranger got in")
    except CallFailed as error:
        assert error.reason == "NOT_MEMBER"
    print("a stranger is told that there is nothing")


if __name__ == "__main__":
    main(sys.argv[1])
