"""check_schema.py SCHEMA FILE [SCHEMA FILE]...: checks the JSON objects of each file, one a line,
against the schema before it.

Members that the schema does not name are refused here, so that it names all of them; programs that
read our output should not mind new ones.
"""

import json
import pathlib
import sys

import jsonschema


def closed(schema):
    if isinstance(schema, list):
        return [closed(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        schema.setdefault("additionalProperties", False)
    return schema


def check(path, answer):
    schema = closed(json.loads(path.read_text()))
    common = closed(json.loads((path.parent / "common.json").read_text()))
    store = {(path.parent / "common.json").as_uri(): common}
    resolver = jsonschema.RefResolver(path.as_uri(), schema, store=store)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema, resolver=resolver)
    lines = answer.splitlines()
    for line in lines:
        for error in validator.iter_errors(json.loads(line)):
            where = "/".join(str(p) for p in error.absolute_path)
            sys.exit(f"{path.name}: {where}: {error.message[:1000]}\nin {line[:1000]}")
    if not lines:
        sys.exit(f"{path.name}: no object")


for schema, answer in zip(sys.argv[1::2], sys.argv[2::2]):
    with open(answer, encoding="utf-8") as file:
        check(pathlib.Path(schema).resolve(), file.read())
