#!/usr/bin/env python3
"""Computes the challenges of challenges.vectors.json as docs/signed-orders.md says, and reads its client data."""
import base64, json, sys
from verify_signed_orders import canonical, client_data, decode, sha256

def challenge_of(document):
    return base64.urlsafe_b64encode(sha256(canonical(document))).rstrip(b"=").decode()

def read(text):
    said = client_data(decode(text))
    return said and {name: said[name] for name in ("type", "challenge", "origin")}

if __name__ == "__main__":
    content = json.load(open(sys.argv[1], encoding="utf-8"))
    found = [(one["name"], one["challenge"], challenge_of(one["document"])) for one in content["challenges"]]
    found += [(one["name"], one["read"], read(one["clientDataJSON"])) for one in content["clientData"]]
    other = [one for one in found if one[1] != one[2]]
    for name, published, mine in other: print(f"{name}: published {published}, found {mine}")
    print(f"{len(found) - len(other)} of {len(found)} agree")
    sys.exit(1 if other else 0)
