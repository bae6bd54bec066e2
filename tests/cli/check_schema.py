"""check_schema.py SCHEMA: checks the JSON objects on standard input, one a line, against a schema.

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


path = pathlib.Path(sys.argv[1]).resolve()
schema = closed(json.loads(path.read_text()))
common = closed(json.loads((path.parent / "common.json").read_text()))
store = {(path.parent / "common.json").as_uri(): common}
resolver = jsonschema.RefResolver(path.as_uri(), schema, store=store)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema, resolver=resolver)
count = 0
for line in sys.stdin:
    count += 1
    for error in validator.iter_errors(json.loads(line)):
        where = "/".join(str(p) for p in error.absolute_path)
        sys.exit(f"{path.name}: {where}: {error.message[:1000]}")
if not count:
    sys.exit(f"{path.name}: no object")
