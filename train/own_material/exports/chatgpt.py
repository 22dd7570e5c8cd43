"""ChatGPT's conversations.json: a tree of messages, of which one branch is the conversation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from memenvs.errors import MaterialError
from memenvs.train.own_material.content import said_in
from memenvs.train.own_material.exports import Head
from memenvs.train.own_material.fields import strings
from memenvs.train.own_material.messages import SYSTEM, Chats
from memenvs.train.own_material.passages import Document, Passage

KEYS = ("title", "create_time", "mapping", "current_node")
HIDDEN = "is_visually_hidden_from_conversation"
UNSAID = ("thoughts", "reasoning_recap", "code", "user_editable_context", "model_editable_context")


def recognises(head: Head) -> bool:
    """Whether a record is a tree of messages."""
    return any(isinstance(record.get("mapping"), dict) for record in head.records())


def read(document: Document, head: Head) -> Iterator[Passage]:
    """Give the messages of each conversation from its root to ``current_node``.

    Answers that were regenerated, thoughts, code that is run, pictures and files are left out.
    """
    chats = Chats(document)
    for where, value in head.entries():
        nodes = value.get("mapping") if isinstance(value, dict) else None
        if not isinstance(nodes, dict):
            raise MaterialError("is no conversation of ChatGPT", record=where)
        group = chats.group(value.get("title") or value.get("conversation_id") or value.get("id"))
        branch = _branch(nodes, value.get("current_node"))
        for name in branch:
            yield from _message(chats, group, nodes[name].get("message"))
        for name, node in nodes.items():
            message = node.get("message") if isinstance(node, dict) else None
            if name not in branch and message:
                text = " ".join(strings((message.get("content") or {}).get("parts")))
                if text.strip():
                    document.leave("message of another branch left out", text)


def _branch(nodes: dict[str, Any], leaf: Any) -> list[str]:
    """Give the names of nodes from the root to a leaf, by default the one that came last."""
    if leaf not in nodes:
        ends = [name for name, node in nodes.items() if not node.get("children")]
        leaf = max(ends, key=lambda name: _time(nodes[name]), default=None)
    branch: list[str] = []
    while leaf in nodes and leaf not in branch:
        branch.append(leaf)
        leaf = nodes[leaf].get("parent")
    return branch[::-1]


def _time(node: dict[str, Any]) -> float:
    time = (node.get("message") or {}).get("create_time")
    return time if isinstance(time, (int, float)) else 0.0


def _message(chats: Chats, group: str, message: Any) -> Iterator[Passage]:
    if not isinstance(message, dict):
        return
    author = message.get("author") or {}
    role = author.get("role", "") if isinstance(author, dict) else str(author)
    content = message.get("content") or {}
    hidden = (message.get("metadata") or {}).get(HIDDEN)
    kind = content.get("content_type", "text") if isinstance(content, dict) else "text"
    document = chats.document
    if role in SYSTEM or hidden or kind in UNSAID:
        unsaid = " ".join(strings({k: v for k, v in content.items() if k != "content_type"}))
        if unsaid.strip():
            what = "system" if role in SYSTEM else kind.replace("_", " ")
            document.leave(f"{what} message left out", unsaid)
        return
    for _, text in said_in(document, _parts(content)):
        if text.strip():
            yield Passage(
                text,
                group=group,
                source=role,
                moment=message.get("create_time"),
                id=str(message.get("id", "")),
                whole=True,
            )
        else:
            document.note("message without text left out")


def _parts(content: Any) -> Any:
    return (
        content.get("parts", content.get("text", content.get("result")))
        if isinstance(content, dict)
        else content
    )
