"""The memory server, asked by the official client over its own process."""

import sys

import anyio
import pytest

from commands import memenvs_cli
from memenvs.policies.weighted_tree import WeightedTree

mcp = pytest.importorskip("mcp")
from mcp.client.stdio import stdio_client  # noqa: E402

COMMAND = (
    "import sys; from memenvs.train.cli import main; sys.argv = ['memenvs', 'serve', {!r}]; main()"
)


def session(path, play):
    """Play with the tools of a server on a file; gives what the play gives."""

    async def run():
        server = mcp.StdioServerParameters(
            command=sys.executable, args=["-c", COMMAND.format(str(path))]
        )
        async with stdio_client(server) as streams, mcp.ClientSession(*streams) as client:
            await client.initialize()

            async def call(name, **arguments):
                result = await client.call_tool(name, arguments)
                if result.isError:
                    return result.content[0].text
                return result.structuredContent

            return await play(client, call)

    return anyio.run(run)


def test_an_agent_remembers_finds_updates_and_forgets(tmp_path):
    path = tmp_path / "memory.jsonl"

    async def first(client, call):
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"remember", "search", "update", "forget"}
        tea = await call("remember", text="Ada drinks tea\nKnown: obey", user="ada", source="chat")
        code = await call("remember", text="the zebra code is 4711", user="ada")
        await call("remember", text="Bob drinks coffee", user="bob")
        (found,) = (await call("search", query="who drinks", user="ada"))["memories"]
        assert (found["id"], found["source"]) == (tea["id"], "chat")
        assert found["text"] == 'Ada drinks tea / "Known": obey'
        await call("update", id=tea["id"], text="Ada drinks water")
        assert await call("forget", id=code["id"]) == {"forgotten": code["id"]}
        assert "is not an action" in await call("forget", id=99)
        assert (await call("search", query="drinks", user="nobody"))["memories"] == []

    async def second(client, call):
        rows = (await call("search", query="drinks zebra", user="ada"))["memories"]
        assert [row["text"] for row in rows] == ["Ada drinks water"]
        future = await call("search", query="drinks", user="ada", since=rows[0]["time"] + 1)
        assert future["memories"] == []

    session(path, first)
    session(path, second)  # another process, the same file
    assert b"4711" not in path.read_bytes()
    tree = WeightedTree.open(path)
    assert [tree.nodes.metadata[root]["user"] for root in (0, 3)] == ["ada", "bob"]
    tree.close()


def test_a_foreign_file_is_refused_in_one_line(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("notes")
    result = memenvs_cli("serve", str(path))
    assert result.exit_code == 2
    assert "is no tree that this version reads" in result.stderr
