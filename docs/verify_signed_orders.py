#!/usr/bin/env python3
"""Decides the orders of signed-orders.vectors.json as docs/signed-orders.md says, with the standard library and openssl."""
import base64, concurrent.futures, datetime, hashlib, json, re, subprocess, sys, tempfile

ID, NUMBER, ADDRESS = r"[A-Za-z0-9._:-]{1,128}", r"[1-9][0-9]{0,77}", r"0x[0-9a-fA-F]{40}"
ORDER = {"transferId": ID, "vaultId": ID, "initiatorId": ID, "fromAddressId": ID, "fromAddress": ADDRESS,
         "network": r"[a-z0-9][a-z0-9-]{0,62}", "coinType": int, "derivationPath": r"m(/[0-9]+)+", "toAddress": ADDRESS,
         "tokenId": ID, "contractAddress": ADDRESS, "amount": NUMBER, "feeLevel": "low|medium|high", "maxFee": NUMBER,
         "rulesVersion": int, "expiresAt": r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z"}
VOTE = {"format": "strongroom-vote-2", "subject": "transfer|payout|approval_request|authority", "hash": "[0-9a-f]{64}",
        "decision": "initiate|approve|reject|cancel", "person": ID, "authority": "[0-9a-f]{64}", "signedAt": ORDER["expiresAt"]}
SIGNED = {"vote": dict, "keyId": r"[A-Za-z0-9._:-]{1,1400}"}
SIGNED |= {name: r"[A-Za-z0-9_-]{1,4096}" for name in ("signature", "authenticatorData", "clientDataJSON")}
PAYOUT = {"format": "strongroom-payout-1", "payoutId": ID, "sums": list} | {
    name: ORDER[name] for name in ("vaultId", "initiatorId", "rulesVersion", "expiresAt")}
SUM = {"network": ORDER["network"], "contractAddress": ADDRESS, "amount": NUMBER, "rowsCount": int, "root": VOTE["hash"]}
NULLABLE = {"contractAddress", "authority"}
OPTIONAL = {"feeLevel", "maxFee", "authenticatorData", "clientDataJSON"}

class Refused(Exception): pass

def demand(holds, code):
    if not holds: raise Refused(code)

def fits(value, fields):
    def right(name, rule):
        one = value.get(name)
        if isinstance(rule, str): return isinstance(one, str) and re.fullmatch(rule, one) or name in NULLABLE and one is None
        return type(one) is rule and (rule is not int or 0 <= one < 2**53)
    return type(value) is dict and value.keys() - OPTIONAL <= fields.keys() and fields.keys() - OPTIONAL <= value.keys() and all(
        name in fields and right(name, fields[name]) for name in value)

def time(text): return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")

SKEW, WAIT = datetime.timedelta(minutes=5), datetime.timedelta(days=30)

def canonical(document): return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()

def sha256(data): return hashlib.sha256(data).digest()

def decode(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    demand(base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text, "SIGNATURE_INVALID")
    return data

def openssl(spki, data, signature):
    with tempfile.NamedTemporaryFile() as key, tempfile.NamedTemporaryFile() as message, tempfile.NamedTemporaryFile() as sig:
        for file, content in ((key, spki), (message, data), (sig, signature)): file.write(content); file.flush()
        digest = [] if len(spki) == 44 else ["-digest", "sha256"]  # Ed25519 hashes by itself
        command = ["openssl", "pkeyutl", "-verify", "-rawin", *digest, "-pubin", "-keyform", "DER", "-inkey", key.name]
        return subprocess.run([*command, "-in", message.name, "-sigfile", sig.name], capture_output=True).returncode == 0

def no_constant(name): raise ValueError(name)

PAIRS = json.JSONDecoder(object_pairs_hook=list, parse_constant=no_constant)

def client_data(data):
    """What a browser said of itself; None for what two readers could understand differently (docs/signed-orders.md)."""
    try:
        text = data.decode()
        pairs = PAIRS.decode(text) if text.startswith("{") else []
    except (ValueError, RecursionError): return None
    said = dict(pairs)
    strings = all(isinstance(said.get(name), str) for name in ("type", "challenge", "origin"))
    once = len(said) == len(pairs) and said.get("crossOrigin", False) is False and "topOrigin" not in said
    return said if strings and once else None

def signed_by(key, vote):
    message = canonical(vote["vote"])
    if key["kind"] == "passkey":
        demand("authenticatorData" in vote and "clientDataJSON" in vote, "SIGNATURE_INVALID")
        authenticator, client = decode(vote["authenticatorData"]), decode(vote["clientDataJSON"])
        said = client_data(client)
        challenge = base64.urlsafe_b64encode(sha256(message)).rstrip(b"=").decode()
        if said is None or (said["type"], said["challenge"]) != ("webauthn.get", challenge) or said["origin"] not in key["origins"]: return False
        if len(authenticator) < 37 or authenticator[:32] != sha256(key["rpId"].encode()) or authenticator[32] & 5 != 5: return False
        message = authenticator + sha256(client)
    return openssl(decode(key["publicKey"]), message, decode(vote["signature"]))

def fits_batch(batch):
    if not fits(batch, {"payout": dict, "position": int, "path": list}) or not fits(batch["payout"], PAYOUT): return False
    sums = batch["payout"]["sums"]
    return (all(fits(one, SUM) and 1 <= one["rowsCount"] <= 1000 for one in sums) and batch["position"] < 1000
            and 1 <= len(sums) <= 50 and len({(one["network"], one["contractAddress"]) for one in sums}) == len(sums)
            and len(batch["path"]) <= 10 and all(fits(one, {"hash": VOTE["hash"], "amount": NUMBER}) for one in batch["path"]))

def check_place(order, batch):
    """Gives what the payout pays of the token of the order, which must be the row at its position."""
    payout, place, path = batch["payout"], batch["position"], list(batch["path"])
    demand(all(payout[name] == order[name] for name in ("vaultId", "initiatorId", "rulesVersion", "expiresAt")), "NOT_IN_PAYOUT")
    total = next((one for one in payout["sums"] if all(one[name] == order[name] for name in ("network", "contractAddress"))), None)
    demand(total and place < total["rowsCount"], "NOT_IN_PAYOUT")
    leaf = {"format": "strongroom-payout-leaf-1", "position": place, "order": sha256(canonical(order)).hex(), "amount": order["amount"]}
    part, width = {"hash": sha256(canonical(leaf)).hex(), "amount": order["amount"]}, total["rowsCount"]
    while width > 1:
        if place % 2 == 1 or place < width - 1:
            demand(path, "NOT_IN_PAYOUT")
            left, right = (path.pop(0), part) if place % 2 == 1 else (part, path.pop(0))
            node = {"format": "strongroom-payout-node-1", "left": left, "right": right}
            part = {"hash": sha256(canonical(node)).hex(), "amount": str(int(left["amount"]) + int(right["amount"]))}
        place, width = place // 2, (width + 1) // 2
    demand(not path and part == {"hash": total["root"], "amount": total["amount"]}, "NOT_IN_PAYOUT")
    return int(total["amount"])

def check(vector, authority):
    request, given = vector["request"], vector["authorization"]
    demand(given is not None, "AUTHORIZATION_MISSING")
    demand(type(given) is dict and given.keys() - {"batch"} == {"order", "authorityVersion", "votes"}, "AUTHORIZATION_MALFORMED")
    order, votes, batch = given["order"], given["votes"], given.get("batch")
    demand(fits(order, ORDER) and type(given["authorityVersion"]) is int and type(votes) is list and len(votes) <= 50, "AUTHORIZATION_MALFORMED")
    demand(all(fits(one, SIGNED) and fits(one["vote"], VOTE) for one in votes), "AUTHORIZATION_MALFORMED")
    demand("batch" not in given or fits_batch(batch), "AUTHORIZATION_MALFORMED")
    try: expires, times = time(order["expiresAt"]), [time(one["vote"]["signedAt"]) for one in votes]
    except ValueError: raise Refused("AUTHORIZATION_MALFORMED")
    same = ("network", "coinType", "derivationPath", "fromAddress", "toAddress", "contractAddress", "amount", "feeLevel", "maxFee")
    demand(order["vaultId"] == authority["vaultId"] and order["transferId"] == request["id"], "ORDER_DIFFERS")
    demand(all(order.get(name) == request.get(name) for name in same), "ORDER_DIFFERS")
    total = check_place(order, batch) if batch else int(order["amount"])
    demand(time(vector["now"]) <= expires, "ORDER_EXPIRED")
    demand(given["authorityVersion"] == authority["version"], "AUTHORITY_VERSION_DIFFERS")
    signed = ("payout", batch["payout"]) if batch else ("transfer", order)
    about = (signed[0], sha256(canonical(signed[1])).hex())
    demand(all((one["vote"]["subject"], one["vote"]["hash"]) == about for one in votes), "ORDER_DIFFERS")
    demand(all(one["vote"]["authority"] == sha256(canonical(authority)).hex() for one in votes), "AUTHORITY_VERSION_DIFFERS")
    for one in votes:
        key = next((key for key in authority["keys"] if key["id"] == one["keyId"]), {"person": None})
        demand(key["person"] == one["vote"]["person"], "KEY_UNKNOWN")
        demand(signed_by(key, one), "SIGNATURE_INVALID")
    demand(all(at <= time(vector["now"]) + SKEW for at in times), "SIGNED_IN_FUTURE")
    initiated = [at for one, at in zip(votes, times) if (one["vote"]["decision"], one["vote"]["person"]) == ("initiate", order["initiatorId"])]
    demand(all(expires - at <= WAIT for at in initiated), "EXPIRES_TOO_LATE")
    rule = next((rule for rule in authority["rules"] if all(rule[name] == order[name] for name in ("network", "contractAddress"))), None)
    demand(rule, "TOKEN_NOT_PERMITTED")
    persons = {group["id"]: set(group["persons"]) for group in authority["groups"]}
    who = {word: {one["vote"]["person"] for one in votes if one["vote"]["decision"] == word} for word in ("initiate", "approve", "reject", "cancel")}
    stopped = who["reject"] | who["cancel"]
    initiator, approvers = order["initiatorId"], who["approve"] - stopped - {order["initiatorId"]}
    demand(initiator in (who["initiate"] - stopped) & persons[rule["initiators"]], "NOT_INITIATED")
    listed = {"network": order["network"], "address": order["toAddress"]} in authority["addresses"]
    for floor in rule["floors"]:
        if total > int(floor["above"]) and not (floor["to"] == "unlisted" and listed):
            demand(len(approvers & persons[floor["group"]]) >= floor["votes"], "VOTES_MISSING")
    per_day = rule["perDay"]
    spent = max(int(vector["orderedLastDay"]) + int(order["amount"]), total)
    demand(per_day is None or spent <= int(per_day), "PER_DAY_EXCEEDED")

def verdict(vector, authorities):
    try: check(vector, authorities[vector["authority"]])
    except Refused as refused: return str(refused)
    return "ok"

if __name__ == "__main__":
    content = json.load(open(sys.argv[1], encoding="utf-8"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        verdicts = list(pool.map(lambda vector: verdict(vector, content["authorities"]), content["vectors"]))
    other = [(one["name"], one["verdict"], mine) for one, mine in zip(content["vectors"], verdicts) if one["verdict"] != mine]
    for name, published, mine in other: print(f"{name}: published {published}, found {mine}")
    print(f"{len(verdicts) - len(other)} of {len(verdicts)} agree")
    sys.exit(1 if other else 0)
