"""Reads words of A64 instructions, a hexadecimal one a line, and prints of each what Capstone says it is, as GNU as
takes it, or a line with ? alone. The first line is Capstone's version. Ends with 9 where it is not installed."""
import re, sys

try:
    import capstone
except ImportError:
    sys.exit(9)

decoder = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)
print(".".join(map(str, capstone.cs_version())))
for line in sys.stdin:
    word = int(line, 16).to_bytes(4, "little")
    one = list(decoder.disasm(word, 0))
    if not one:
        print("?")
        continue
    name, operands = one[0].mnemonic, one[0].op_str
    if re.match(r"b$|b\.|cbn?z|tbn?z|adrp?$|bl$", name):
        # A place as seen from address 0.
        at = re.search(r"#(-?\w+)$", operands)
        value = int(at.group(1), 0)
        value -= 1 << 64 if value >= 1 << 63 else 0
        operands = operands[:at.start()] + f".{value:+d}"
    print(name, operands)
