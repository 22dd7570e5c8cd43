"""Exports of chats and logs: who said what, when, in which conversation, and what is left out."""

from __future__ import annotations

import json

import pytest

from documents import opened
from memenvs import MaterialError
from memenvs.train.own_material.arranging import in_time


def claims(tmp_path, name, value, **how):
    """Read an export; give source, group, time and text of its claims, and the notes."""
    content = value if isinstance(value, (str, bytes)) else json.dumps(value)
    placed, document = opened(tmp_path, name, content, **how)
    told = [
        (p.claim.source, p.claim.group, p.claim.time, p.claim.text) for p in in_time(placed, [])
    ]
    return told, document.notes


def lines(*values):
    return "\n".join(map(json.dumps, values))


KEY, CODE = "The key is under the pot.", "The code is 4711."
NOON = 1_704_110_400  # 2024-01-01 12:00 UTC


@pytest.mark.parametrize(
    ("first", "second"),
    [  # one form a country; the second message is a day later
        ("[31.01.24, 09:00:00] ", "[01.02.24, 09:00:00] "),  # Germany, iOS
        ("31.01.24, 09:00 - ", "01.02.24, 09:00 - "),
        ("[31/01/2024, 9:00:00 AM] ", "[01/02/2024, 9:00:00 AM] "),  # India
        ("31/01/24, 9:00\u202fam - ", "01/02/24, 9:00\u202fam - "),  # Australia, Android
        ("1/31/24, 9:00 AM - ", "2/1/24, 9:00 AM - "),  # United States
        ("[1/31/24, 9:00:00\u202fAM] ", "[2/1/24, 9:00:00\u202fAM] "),
        ("2024-01-31, 09:00 - ", "2024-02-01, 09:00 - "),  # Sweden, Canada
        ("31-01-2024 09:00 - ", "01-02-2024 09:00 - "),  # the Netherlands
        ("31/01/2024 à 09:00 - ", "01/02/2024 à 09:00 - "),  # France
        ("31/1/2024 9:00 a. m. - ", "1/2/2024 9:00 a. m. - "),  # Mexico
        ("31.1.2024 klo 9.00 - ", "1.2.2024 klo 9.00 - "),  # Finland
        ("31/1/2567 09:00 - ", "1/2/2567 09:00 - "),  # Thailand
        ("۱۴۰۲/۱۱/۱۱،\u200f ۹:۰۰ - ", "۱۴۰۲/۱۱/۱۲،\u200f ۹:۰۰ - "),  # Iran
        ("2024년 1월 31일 오전 9:00, ", "2024년 2월 1일 오전 9:00, "),  # Korea
        ("[2024. 1. 31. 오전 9:00:00] ", "[2024. 2. 1. 오전 9:00:00] "),
        ("[2024/1/31 上午9:00:00] ", "[2024/2/1 上午9:00:00] "),  # Taiwan
        ("2024/01/31 09:00 - ", "2024/02/01 09:00 - "),  # Japan
        ("09:00, 31/1/24 - ", "09:00, 1/2/24 - "),  # Vietnam
        ("[09:00, 31/1/2024] ", "[09:00, 1/2/2024] "),  # copied out of a browser
        ("[9:00 AM, 1/31/2024] ", "[9:00 AM, 2/1/2024] "),
        ("\u200f31‏/1‏/2024، 9:00 ص - ", "\u200f1‏/2‏/2024، 9:00 ص - "),  # Egypt
        ("٣١/٠١/٢٠٢٤، ٩:٠٠ ص - ", "٠١/٠٢/٢٠٢٤، ٩:٠٠ ص - "),
    ],
)
def test_whatsapp_of_many_countries(first, second, tmp_path):
    content = f"{first}Ada Reed: {KEY}\nAnd more: of it.\n{second}~\u202fBen: {CODE}\n"
    told, notes = claims(tmp_path, "chat.txt", content)
    assert told == [
        ("Ada Reed", "chat.txt", 0.0, f"{KEY} And more: of it."),
        ("Ben", "chat.txt", 1.0, CODE),
    ]
    assert not notes


def test_whatsapp_leaves_out_what_nobody_said(tmp_path):
    content = (
        "1/31/24, 9:00 AM - Messages and calls are end-to-end encrypted.\n"
        f"1/31/24, 9:01 AM - Ada: {KEY} <This message was edited>\n"
        "1/31/24, 9:02 AM - Ada: <Media omitted>\n"
        "1/31/24, 9:03 AM - Ben: IMG-20240131.jpg (file attached)\nThe pot.\n"
        "1/31/24, 9:04 AM - Ben: This message was deleted\n"
        "1/31/24, 9:05 AM - Ben changed the subject to House\n"
        "1/31/24, 9:06 AM - +49 170 1234567: Hello: all\n"
    )
    told, notes = claims(tmp_path, "chat.txt", content)
    assert [(source, text) for source, _, _, text in told] == [
        ("Ada", KEY),
        ("Ben", "The pot."),
        ("+49 170 1234567", "Hello: all"),
    ]
    assert notes == {
        "notice of WhatsApp left out": 2,
        "sign that a message was edited left out": 1,
        "attachment left out": 2,
        "deleted message left out": 1,
    }


def test_a_note_that_begins_with_a_date_is_no_chat(tmp_path):
    told, _ = claims(tmp_path, "a.txt", "31.01.24, 09:00 - meeting\nBuy milk.\nCall Ann.\n")
    assert [source for source, _, _, _ in told] == ["a.txt"] * 3


def telegram(name, *texts):
    made = [
        {"id": n, "type": "message", "date": "2024-01-01T12:00:00", "from": name, "from_id": "u1"}
        | {"date_unixtime": str(NOON + 86_400 * n), "text": text}
        for n, text in enumerate(texts)
    ]
    service = {"id": 99, "type": "service", "action": "create_group", "actor": name, "text": ""}
    return {"name": name, "type": "personal_chat", "id": 1, "messages": [*made, service]}


def test_telegram_of_a_whole_account(tmp_path):
    formatted = ["The ", {"type": "bold", "text": "key"}, " is under the pot."]
    value = {
        "about": "Here is your data.",
        "contacts": {"list": [{"first_name": "Zoe"}]},
        "chats": {"about": "", "list": [telegram("Ada", formatted), telegram("Ben", "Hi.", CODE)]},
    }
    told, notes = claims(tmp_path, "result.json", value)
    assert told == [
        ("Ada", "result.json, Ada", 0.0, KEY),
        # Ben writes with Ada's number: it is the same person under another name.
        ("Ada", "result.json, Ben", 0.0, "Hi."),
        ("Ada", "result.json, Ben", 1.0, CODE),
    ]
    assert notes["notice of Telegram left out"] == 2
    assert notes["field 'about' is not read"] == 1
    assert notes["field 'contacts' is not read"] == 1


PAGE = """<!DOCTYPE html><html><head><title>Exported Data</title></head><body>
<div class="page_wrap"><div class="page_header"><div class="content"><div class="text bold">
House </div></div></div><div class="page_body chat_page"><div class="history">
<div class="message service" id="message-1"><div class="body details">31 January 2024</div></div>
<div class="message default clearfix" id="message5">
 <div class="pull_left userpic_wrap"><div class="userpic"><div class="initials">AR</div></div></div>
 <div class="body">
  <div class="pull_right date details" title="31.01.2024 09:00:00 UTC+01:00">09:00</div>
  <div class="from_name">Ada Reed </div>
  <div class="text">The key is<br>under <strong>the</strong> pot.</div>
 </div></div>
<div class="message default clearfix joined" id="message6"><div class="body">
  <div class="pull_right date details" title="01.02.2024 09:00:00 UTC+01:00">09:00</div>
  <div class="reply_to details">In reply to <a href="#go_to_message5">this message</a></div>
  <div class="text">The code is 4711.</div>
  <span class="reactions"><span class="reaction"><span class="emoji">yes</span></span></span>
 </div></div>
<div class="message default clearfix" id="message7"><div class="body">
  <div class="pull_right date details" title="01.02.2024 10:00:00 UTC+01:00">10:00</div>
  <div class="from_name">Ben</div>
  <div class="forwarded body"><div class="from_name">Zoe <span>31.01.2024</span></div>
   <div class="text">It rains.</div></div>
 </div></div>
<div class="message default clearfix joined" id="message8"><div class="body">
  <div class="media_wrap clearfix"><div class="title bold">Photo</div>
  <div class="status details">Not included</div></div></div></div>
</div></div></div></body></html>"""


def test_telegram_of_pages(tmp_path):
    told, notes = claims(tmp_path, "messages.html", PAGE)
    assert told == [
        ("Ada Reed", "messages.html, House", 0.0, KEY),
        ("Ada Reed", "messages.html, House", 1.0, CODE),
        ("Ben", "messages.html, House", pytest.approx(1 + 1 / 24), "It rains."),
    ]
    assert notes == {
        "notice of Telegram left out": 1,
        "initials of a person left out": 1,
        "reference to another message left out": 1,
        "reaction left out": 1,
        "name of who was forwarded left out": 1,
        "attachment left out": 1,
        "message without text left out": 1,
    }


def test_twitter_gives_posts_and_direct_messages(tmp_path):
    account = [{"account": {"accountId": "7", "username": "ada", "accountDisplayName": "Ada"}}]
    (tmp_path / "account.js").write_text(f"window.YTD.account.part0 = {json.dumps(account)}")
    first = {"id_str": "1", "full_text": "The key &amp; the pot.", "lang": "en"}
    first |= {"created_at": "Wed Jan 31 09:00:00 +0000 2024", "favorite_count": "3"}
    second = {"id_str": "2", "full_text": CODE, "created_at": "Thu Feb 01 09:00:00 +0000 2024"}
    second["in_reply_to_screen_name"] = "ben"
    posts = json.dumps([{"tweet": first}, {"tweet": second}])
    told, notes = claims(tmp_path, "tweets.js", f"window.YTD.tweets.part0 = {posts}")
    assert told == [
        ("Ada", "tweets.js", 0.0, "The key & the pot."),
        ("Ada", "tweets.js", 1.0, CODE),
    ]
    assert notes == {"field 'in_reply_to_screen_name' is not read": 1}
    sent = {"id": "3", "senderId": "7", "recipientId": "9", "text": KEY, "urls": []}
    sent["createdAt"] = "2024-01-31T09:00:00.000Z"
    got = {"id": "4", "senderId": "9", "text": CODE, "createdAt": "2024-02-01T09:00:00.000Z"}
    messages = [{"messageCreate": sent}, {"messageCreate": got}, {"joinConversation": {"id": "1"}}]
    talk = json.dumps([{"dmConversation": {"conversationId": "7-9", "messages": messages}}])
    told, notes = claims(tmp_path, "dm.js", f"window.YTD.direct_messages.part0 = {talk}")
    assert told == [("Ada", "dm.js, 7-9", 0.0, KEY), ("9", "dm.js, 7-9", 1.0, CODE)]
    assert notes == {"notice of Twitter left out": 1}
    note = {"noteTweetId": "5", "createdAt": "2024-01-31T09:00:00.000Z", "core": {"text": KEY}}
    told, notes = claims(
        tmp_path, "note.js", f"window.YTD.note_tweet.part0 = {json.dumps([{'noteTweet': note}])}"
    )
    assert [(source, text) for source, _, _, text in told] == [("Ada", KEY)]
    assert not notes


def test_slack_takes_names_from_the_folder_above(tmp_path):
    (tmp_path / "users.json").write_text(
        json.dumps([{"id": "U1", "name": "ada", "profile": {"real_name": "Ada Reed"}}])
    )
    (tmp_path / "channels.json").write_text(json.dumps([{"id": "C1", "name": "random"}]))
    said = "<@U1> see <#C1|random>, <https://x.org|the page> &lt;3 <!here>"
    value = [
        {"type": "message", "user": "U1", "text": said, "ts": f"{NOON}.000100"},
        {"type": "message", "subtype": "channel_topic", "user": "U1", "text": "set the topic"},
        {"type": "message", "subtype": "bot_message", "username": "Bot", "text": CODE, "ts": "1"},
        {
            "type": "message",
            "user": "U9",
            "text": "Hm.",
            "ts": f"{NOON + 86400}.0",
            "reactions": [1],
        },
    ]
    value[1]["ts"] = value[0]["ts"]
    told, notes = claims(tmp_path, "general/2024-01-01.json", value)
    assert told == [
        ("Ada Reed", "general", 0.0, "Ada Reed see #random, the page https://x.org <3 @here"),
        ("Bot", "general", None, CODE),
        ("U9", "general", pytest.approx(1.0, abs=1e-8), "Hm."),
    ]
    assert notes == {
        "notice of Slack left out": 1,
        "field 'reactions' is not read": 1,
        "time such as '1' is no known date: left out": 1,
    }
    with pytest.raises(MaterialError, match="list of users or channels: no message"):
        claims(tmp_path, "users.json", (tmp_path / "users.json").read_text())


def test_slack_messages_of_blocks_without_a_text(tmp_path):
    line = [
        {"type": "text", "text": "The key is under "},
        {"type": "user", "user_id": "U2"},
        {"type": "text", "text": "'s pot "},
        {"type": "link", "url": "https://a.org"},
    ]
    section = {"type": "rich_text_section", "elements": line}
    photo = {"type": "image", "title": {"type": "plain_text", "text": "Seen"}, "alt_text": "a cat"}
    emoji = {"type": "rich_text_section", "elements": [{"type": "emoji", "name": "key"}]}
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": "Found:"}, "accessory": photo},
        {"type": "rich_text", "elements": [section, emoji]},
        {**photo, "title": None},
    ]
    record = {"type": "message", "user": "U1", "ts": "1704110400.1", "text": "", "blocks": blocks}
    told, notes = claims(tmp_path, "day.json", [record])
    assert [text for *_, text in told] == [
        "Found: Seen a cat The key is under U2's pot https://a.org :key: a cat"
    ]
    assert not notes


def test_discord_keeps_a_person_one_source(tmp_path):
    def message(number, nickname, **more):
        author = {"id": "13", "name": "ada", "nickname": nickname, "roles": [number]}
        said = {
            "id": str(number),
            "type": "Default",
            "content": f"Fact {number}.",
            "author": author,
        }
        return {**said, "timestamp": f"2024-01-0{number}T09:00:00+00:00", **more}

    value = {
        "guild": {"name": "House"},
        "channel": {"id": "2", "name": "general"},
        "messages": [
            message(1, "Ada"),
            message(2, "The boss", reactions=[{"emoji": {"name": "up"}}]),
            message(3, "Ada", type="GuildMemberJoin"),
        ],
    }
    told, notes = claims(tmp_path, "a.json", value)
    assert told == [
        ("Ada", "House > general", 0.0, "Fact 1."),
        ("Ada", "House > general", 1.0, "Fact 2."),
    ]
    assert notes == {"notice of Discord left out": 1, "field 'reactions' is not read": 1}


def test_messenger_is_put_in_order_and_its_accents_mended(tmp_path):
    value = {
        "participants": [{"name": "Zo\u00c3\u00ab"}],
        "title": "Zo\u00c3\u00ab",
        "thread_path": "inbox/zoe",
        "messages": [
            {
                "sender_name": "Zo\u00c3\u00ab",
                "timestamp_ms": (NOON + 86_400) * 1000,
                "content": CODE,
            },
            {"sender_name": "Ada", "timestamp_ms": NOON * 1000, "photos": [{"uri": "a.jpg"}]},
            {
                "sender_name": "Ada",
                "timestamp_ms": NOON * 1000,
                "content": "Caf\u00c3\u00a9 \u00f0\u009f\u0098\u0080",
            },
        ],
    }
    told, notes = claims(tmp_path, "message_1.json", value)
    assert told == [("Ada", "Zoë", 0.0, "Café 😀"), ("Zoë", "Zoë", 1.0, CODE)]
    assert notes == {"message without text left out": 1, "field 'photos' is not read": 1}


def test_chatgpt_follows_the_branch_that_was_kept(tmp_path):
    def node(name, parent, role, content, **more):
        message = {"id": name, "author": {"role": role}, "create_time": NOON, "content": content}
        return {"id": name, "parent": parent, "children": [], "message": message | more}

    said = {"content_type": "text", "parts": [CODE]}
    mixed = {"content_type": "multimodal_text", "parts": [{"asset_pointer": "file://x"}, KEY]}
    nodes = [
        {"id": "root", "parent": None, "message": None, "children": ["a"]},
        node("a", "root", "user", mixed),
        node("old", "a", "assistant", {"content_type": "text", "parts": ["Another answer."]}),
        node(
            "think",
            "a",
            "assistant",
            {"content_type": "thoughts", "thoughts": [{"content": "Hm."}]},
        ),
        node("b", "think", "assistant", said),
        node("h", "b", "user", said, metadata={"is_visually_hidden_from_conversation": True}),
    ]
    value = [
        {"title": title, "mapping": {n["id"]: n for n in nodes}, "current_node": leaf}
        for title, leaf in (("House", "h"), ("House", "b"))
    ]
    told, notes = claims(tmp_path, "conversations.json", value)
    assert told == [
        (source, f"conversations.json, House{more}", 0.0, text)
        for more in ("", " (2)")
        for source, text in (("user", KEY), ("assistant", CODE))
    ]
    assert notes["part of a message that is no text left out"] == 2
    assert notes["thoughts message left out"] == 2
    assert notes["message of another branch left out"] == 3


def test_claude_has_messages_with_content_or_text_alone(tmp_path):
    value = [
        {
            "uuid": "c",
            "name": "House",
            "created_at": "2024-01-01T00:00:00Z",
            "chat_messages": [
                {"uuid": "1", "text": KEY, "sender": "human", "created_at": "2024-01-01T12:00:00Z"},
                {
                    "uuid": "2",
                    "text": "",
                    "content": [
                        {"type": "thinking", "thinking": "Hm."},
                        {"type": "text", "text": CODE},
                    ],
                    "sender": "assistant",
                    "created_at": "2024-01-02T12:00:00Z",
                    "attachments": [{"file_name": "a.txt", "extracted_content": "long text"}],
                },
            ],
        }
    ]
    told, notes = claims(tmp_path, "conversations.json", value)
    assert told == [
        ("human", "conversations.json, House", 0.0, KEY),
        ("assistant", "conversations.json, House", 1.0, CODE),
    ]
    assert notes == {"thought of a model left out": 1, "attachment left out": 1}


def test_gemini_gives_prompts_and_answers(tmp_path):
    value = [
        {
            "header": "Gemini Apps",
            "title": f"Prompted {KEY}",
            "time": "2024-01-01T12:00:00.000Z",
            "safeHtmlItem": [{"html": f"<p>{CODE}</p><ul><li>Yes</ul>"}],
        }
    ]
    told, _ = claims(tmp_path, "MyActivity.json", value)
    assert told == [
        ("user", "Gemini Apps", 0.0, KEY),
        ("Gemini", "Gemini Apps", 0.0, f"{CODE} Yes"),
    ]
    studio = {
        "chunkedPrompt": {
            "chunks": [{"role": "user", "text": KEY}, {"text": "?", "isThought": True}]
        }
    }
    told, notes = claims(tmp_path, "a.json", studio)
    assert [(source, text) for source, _, _, text in told] == [("user", KEY)]
    assert notes == {"thought of a model left out": 1}


ASKED = {"messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": KEY}]}
CHOICE = {"choices": [{"message": {"role": "assistant", "content": CODE}}], "created": NOON}
OUTPUT = {
    "object": "response",
    "created_at": NOON,
    "output": [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "name": "look", "arguments": "{}"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": CODE}],
        },
    ],
}


@pytest.mark.parametrize(
    "records",
    [
        [{"request": ASKED, "response": CHOICE}],
        [{"custom_id": "a", "method": "POST", "url": "/v1", "body": {"model": "m", **ASKED}},
         {"custom_id": "a", "response": {"status_code": 200, "body": CHOICE}, "error": None}],
        [{"model": "m", "input": KEY, **OUTPUT}],
        [{"body": {"model": "m", "input": [{"role": "user", "content": KEY}]}},
         {"response": {"body": OUTPUT}}],
        [{"custom_id": "a", "params": {}, "body": ASKED},
         {"custom_id": "a", "result": {"type": "succeeded", "message":
          {"role": "assistant", "content": [{"type": "text", "text": CODE}]}}}],
    ],
    ids=["log", "batch", "responses", "responses batch", "anthropic batch"],
)  # fmt: skip
def test_logs_of_providers(records, tmp_path):
    told, _ = claims(tmp_path, "log.jsonl", lines(*records))
    assert [(source, text) for source, _, _, text in told] == [("user", KEY), ("assistant", CODE)]


def test_a_tool_speaks_in_its_results(tmp_path):
    value = {
        "system": "Be kind.",
        "messages": [
            {"role": "user", "content": "Where is the key?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look"}]},
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "t", "content": KEY}],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "content": [{"type": "text", "text": CODE}]},
                    {"type": "text", "text": "Thanks."},
                ],
            },
        ],
    }
    told, notes = claims(tmp_path, "a.json", value)
    assert [(source, text) for source, _, _, text in told] == [
        ("user", "Where is the key?"),
        ("tool", KEY),
        ("tool", CODE),
        ("user", "Thanks."),
    ]
    assert notes == {
        "system message left out": 1,
        "call of a tool left out": 1,
        "message without text left out": 1,
    }


@pytest.mark.parametrize(
    "messages",
    [
        [{"type": "human", "data": {"content": KEY, "type": "human", "additional_kwargs": {}}},
         {"type": "ai", "data": {"content": CODE}}],
        [{"lc": 1, "type": "constructor", "id": ["langchain", "HumanMessage"],
          "kwargs": {"content": KEY, "type": "human"}},
         {"lc": 1, "type": "constructor", "id": ["langchain", "AIMessage"],
          "kwargs": {"content": CODE}}],
    ],
)  # fmt: skip
def test_langchain(messages, tmp_path):
    for value in (messages, {"session": "s", "messages": messages}):
        told, notes = claims(tmp_path, "a.json", value)
        assert [(source, text) for source, _, _, text in told] == [("human", KEY), ("ai", CODE)]
        assert not notes


def test_transcripts_of_agents(tmp_path):
    events = [
        {"type": "summary", "summary": "House"},
        {"type": "user", "message": {"role": "user", "content": KEY}, "sessionId": "s",
         "timestamp": "2024-01-01T12:00:00Z", "uuid": "1"},
        {"type": "response_item", "timestamp": "2024-01-02T12:00:00Z", "payload": {
            "type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": CODE}]}},
    ]  # fmt: skip
    told, notes = claims(tmp_path, "run.jsonl", lines(*events))
    assert told == [("user", "s", 0.0, KEY), ("assistant", "run.jsonl", 1.0, CODE)]
    assert notes["record of the kind 'summary' left out"] == 1


def test_transcripts_of_speech_as_json(tmp_path):
    whisper = {
        "text": "",
        "segments": [
            {"start": 0.0, "end": 2.0, "text": " The key is"},
            {"start": 2.0, "end": 3.0, "text": " under the pot."},
        ],
    }
    youtube = {
        "events": [{"tStartMs": 43_200, "segs": [{"utf8": "The code "}, {"utf8": "is 4711."}]}]
    }
    assert claims(tmp_path, "a.json", whisper)[0] == [("a.json", "a.json", 0.0, KEY)]
    assert claims(tmp_path, "b.json", youtube)[0] == [("b.json", "b.json", 0.0005, CODE)]


@pytest.mark.parametrize(
    ("speaker", "name"),
    [
        ("Ada", "Ada"),
        (7, "7"),
        ({"id": "1", "displayName": "Ada"}, "Ada"),
        (
            {"application": None, "user": {"id": "1", "displayName": "Ada"}},
            "Ada",
        ),  # Microsoft Graph
        ({"email": "a@x.org", "user_type": "Human"}, "a@x.org"),
        ({"id": "U1"}, "U1"),
        ([{"name": "Ada"}, {"name": "Ben"}], "Ada, Ben"),
        ({"roles": [1]}, "a.json"),
        (True, "a.json"),
    ],
)
def test_a_speaker_is_a_name(speaker, name, tmp_path):
    told, notes = claims(
        tmp_path, "a.json", [{"from": speaker, "text": KEY, "channel": {"name": "g"}}]
    )
    assert told[0][0] == name
    assert notes == ({"speaker without a name left out": 1} if name == "a.json" else {})


@pytest.mark.parametrize(
    "field", "createdAt sent_at timestamp_ms ts created_date createdDateTime Timestamp".split()
)
def test_usual_names_of_times_are_read_and_others_told(field, tmp_path):
    value = lines({"text": KEY, field: NOON}, {"text": CODE, field: NOON + 86_400, "mood": "good"})
    told, notes = claims(tmp_path, "a.jsonl", value)
    assert [time for _, _, time, _ in told] == [0.0, 1.0]
    assert notes == {"field 'mood' is not read": 1}


GRAPH = {
    "from": {"user": {"id": "u", "displayName": "Ada"}},
    "createdDateTime": "2024-01-01T12:00:00Z",
    "body": {"contentType": "html", "content": f"<p>{KEY}</p>"},
}
THREAD = {"role": "Ada", "created_at": NOON, "content": [{"type": "text", "text": {"value": KEY}}]}
PLAIN = {"role": "Ada", "content": KEY, "time": NOON}


@pytest.mark.parametrize(
    "value",
    [
        {"value": [GRAPH]},
        {"object": "list", "data": [THREAD]},
        {"samples": [{"messages": [PLAIN]}]},
        {"contents": [{"role": "Ada", "parts": [{"text": KEY}], "time": NOON}]},
        {"inputs": {"messages": [PLAIN]}, "outputs": {}},
    ],
    ids="teams threads samples gemini langsmith".split(),
)
def test_messages_within_pages_and_wrappers(value, tmp_path):
    told, _ = claims(tmp_path, "a.json", value)
    assert [(source, time, text) for source, _, time, text in told] == [("Ada", 0.0, KEY)]


def test_a_record_that_is_no_message_does_not_end_its_file(tmp_path):
    content = lines({"event": "start"}, {"role": "user", "text": KEY}, {"ping": "a b"}, {"text": 7})
    told, notes = claims(tmp_path, "a.jsonl", content)
    assert [text for _, _, _, text in told] == [KEY, "7"]
    assert notes == {"record that is no message left out": 2}


STORY = f"{KEY} {CODE}\nRain fell."
TITLED = {"title": "House", "question": "Where?"}


@pytest.mark.parametrize(
    ("value", "group", "source"),
    [
        ({"title": "House", "body": STORY, "source": "The Mail", "url": "x"}, "House", "The Mail"),
        ({"title": "House", "text": STORY, "idx": 3}, "House", "a.json"),
        ({"title": "House", "article": STORY, "questions": [{"question": "?"}]}, "House", "a.json"),
        ({"data": [{"title": "House", "paragraphs": [{"context": STORY}]}]}, "House", "a.json"),
        ({**TITLED, "context": STORY, "answers": {"text": []}}, "House", "a.json"),
        ({"paragraphs": [{"title": "House", "text": STORY}], "question": "?"}, "House", "a.json"),
        (
            {"document": {"summary": {"title": "House", "text": STORY}}, "question": {"text": "?"}},
            *("House", "a.json"),
        ),
        (
            {"Ann": {"profile": {}, "events": {"1_0": {"content": STORY}}}},
            "Ann > events > 1_0",
            "a.json",
        ),
    ],
    ids="multihop-rag hipporag quality squad rows musique narrativeqa perltqa".split(),
)
def test_texts_of_data_sets(value, group, source, tmp_path):
    told, _ = claims(tmp_path, "a.json", [value, value])  # a text may come with several questions
    assert told == [(source, f"a.json, {group}", None, text) for text in (KEY, CODE, "Rain fell.")]


def test_multi_session_chat(tmp_path):
    value = {
        "personas": [["I have a key."], ["I am Ben."]],
        "previous_dialogs": [
            {"personas": [[], []], "dialog": [{"text": KEY}], "time_back": "2 days"}
        ],
        "dialog": [{"id": "Speaker 1", "text": "Hi."}, {"id": "Speaker 2", "text": CODE}],
    }
    told, notes = claims(tmp_path, "a.jsonl", lines(value, value))
    assert [(source, group[9:], text) for source, group, _, text in told] == [
        ("Speaker 1", "session 1", KEY),
        ("Speaker 1", "session 2", "Hi."),
        ("Speaker 2", "session 2", CODE),
    ]
    assert notes["time of a session left out"] == 2


def test_a_shape_that_nobody_knows_is_told_with_its_fields(tmp_path):
    with pytest.raises(MaterialError) as caught:
        claims(tmp_path, "a.json", {"participants": [], "thread_path": "x", "colour": 1})
    assert str(caught.value) == (
        "a.json: is no message: it has the fields participants, thread_path, colour; the nearest "
        "known shape is messenger, with participants, messages, title, thread_path"
    )
