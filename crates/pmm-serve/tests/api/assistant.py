"""The tools for assistants, asked by the protocol's own client. assistant.py PMM PENGUINS.csv"""

import asyncio
import json
import pathlib
import shutil
import sys
import tempfile

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

program, penguins = (pathlib.Path(path).resolve() for path in sys.argv[1:3])


async def main(folder):
    async with stdio_client(StdioServerParameters(command=str(program), args=["mcp", folder])) as pipes:
        async with ClientSession(*pipes) as session:
            hello = await session.initialize()
            assert hello.server_info.name == "pmm"
            tools = [tool.name for tool in (await session.list_tools()).tools]
            assert {"fit", "sample", "predict", "impute", "score", "infill"} <= set(tools), tools

            async def call(tool, **arguments):
                answer = await session.call_tool(tool, arguments)
                return answer.is_error, json.loads(answer.content[0].text)

            is_error, status = await call("fit", data="penguins.csv", steps=40, settings={"net.width": "32", "net.blocks": "1"})
            assert not is_error, status
            while (await call("fit_status", model="penguins"))[1]["state"] != "finished":
                await asyncio.sleep(0.1)
            is_error, rows = await call("sample", model="penguins", request={"count": 5, "given": {"species": "Gentoo"}})
            assert not is_error and all(row[rows["columns"].index("species")] == "Gentoo" for row in rows["rows"]), rows
            is_error, problem = await call("sample", model="penguins", request={"given": {"species": "Dodo"}})
            assert is_error and problem["value"] == "Dodo", problem
    print("ok  the protocol's own client fits a model and draws from it")


with tempfile.TemporaryDirectory() as folder:
    shutil.copy(penguins, folder)
    asyncio.run(main(folder))
