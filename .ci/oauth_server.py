"""An OAuth 2 server for the tests: short-lived bearer tokens, and refresh tokens that change at each use and can be revoked.

    python oauth_server.py PORT

Authlib decides what is right: the grants of RFC 6749, revocation (RFC 7009), and bearer tokens (RFC 6750). Whoever signs in has
a session of their own, named like the user; any name will do, with the password "tea".

    POST /token              grant_type=password (scope: how many seconds an access token lives), or refresh_token
    POST /revoke             takes back a token
    GET  /things             needs an access token; with ?hold it first waits for the session to be released
    GET  /held?count=N       for the test: answers once that many calls are held, for the user of ?user
    POST /expire             for the test: ends the access tokens of ?user, and releases what is held
    GET  /counts             for the test: how often the tokens of ?user were renewed, and how often that was refused
"""

import os
import secrets
import sys
import threading
import time
from collections import Counter, defaultdict

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # http, since nothing leaves this machine

from authlib.integrations.flask_oauth2 import AuthorizationServer, ResourceProtector, current_token
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from flask import Flask, jsonify, request
from werkzeug.serving import WSGIRequestHandler, run_simple

WAIT = 60  # seconds; longer than any test takes


class Client(ClientMixin):
    """An app: one that keeps a secret, or one that cannot."""

    def __init__(self, client_id, secret=None):
        self.client_id, self.secret = client_id, secret

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return scope

    def check_client_secret(self, client_secret):
        return self.secret is not None and secrets.compare_digest(client_secret, self.secret)

    def check_endpoint_auth_method(self, method, endpoint):
        wanted = {"none"} if self.secret is None else {"client_secret_basic", "client_secret_post"}
        return method in wanted

    def check_response_type(self, response_type):
        return False

    def check_grant_type(self, grant_type):
        return grant_type in ("password", "refresh_token")


class Token(TokenMixin):
    """An access token with its refresh token."""

    def __init__(self, values, client_id, user):
        self.access_token, self.refresh_token = values["access_token"], values.get("refresh_token")
        self.scope, self.client_id, self.user = values.get("scope", ""), client_id, user
        self.ends = time.time() + values["expires_in"]
        self.is_access_revoked = self.is_refresh_revoked = False

    def check_client(self, client):
        return self.client_id == client.client_id

    def get_scope(self):
        return self.scope

    def get_expires_in(self):
        return max(0, int(self.ends - time.time()))

    def is_expired(self):
        return time.time() >= self.ends

    def is_revoked(self):
        return self.is_access_revoked

    def get_user(self):
        return self.user


class Sessions:
    """All tokens and counts, and the calls that are held."""

    def __init__(self):
        self.change = threading.Condition()
        self.tokens = []
        self.counts = defaultdict(Counter)
        self.held = Counter()
        self.released = set()

    def find(self, **wanted):
        with self.change:
            return next((t for t in self.tokens if all(getattr(t, k) == v for k, v in wanted.items())), None)

    def add(self, values, client_id, user):
        with self.change:
            self.tokens.append(Token(values, client_id, user))

    def count(self, user, what):
        with self.change:
            self.counts[user][what] += 1

    def hold(self, user):
        with self.change:
            self.held[user] += 1
            self.change.notify_all()
            self.change.wait_for(lambda: user in self.released, WAIT)

    def wait_for_held(self, user, count):
        with self.change:
            return self.change.wait_for(lambda: self.held[user] >= count, WAIT)

    def expire(self, user):
        with self.change:
            for token in self.tokens:
                if token.user == user:
                    token.ends = 0
            self.released.add(user)
            self.change.notify_all()


sessions = Sessions()
clients = {"shop": Client("shop", "s3cret: &%"), "phone": Client("phone")}


class PasswordGrant(grants.ResourceOwnerPasswordCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]

    def authenticate_user(self, username, password):
        return username if password == "tea" else None


class RefreshGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        token = sessions.find(refresh_token=refresh_token)
        if token is None or token.is_refresh_revoked:
            sessions.count(token.user if token else "", "refused")
            return None
        return token

    def authenticate_user(self, refresh_token):
        return refresh_token.user

    def revoke_old_credential(self, refresh_token):
        refresh_token.is_access_revoked = refresh_token.is_refresh_revoked = True
        sessions.count(refresh_token.user, "renewed")


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]

    def query_token(self, token_string, token_type_hint):
        return sessions.find(refresh_token=token_string) or sessions.find(access_token=token_string)

    def revoke_token(self, token, request):
        token.is_refresh_revoked = True


class AccessTokens(BearerTokenValidator):
    def authenticate_token(self, token_string):
        return sessions.find(access_token=token_string)


app = Flask(__name__)
server = AuthorizationServer(app, query_client=clients.get, save_token=lambda values, request: sessions.add(
    values, request.client.client_id, request.user))
server.register_token_generator("default", lambda grant_type, client, user=None, scope=None, **_: {
    "token_type": "Bearer",
    "access_token": secrets.token_urlsafe(24),
    "refresh_token": secrets.token_urlsafe(24),
    "expires_in": int(scope or 3600),
    "scope": scope or "",
})
server.register_grant(PasswordGrant)
server.register_grant(RefreshGrant)
server.register_endpoint(Revocation)
protect = ResourceProtector()
# A challenge without a realm ends a process that uses Foundation's URLSession on Linux.
protect.register_token_validator(AccessTokens(realm="things"))


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/things")
def things():
    if "hold" in request.args:
        sessions.hold(request.args["hold"])
    with protect.acquire():
        return jsonify(user=current_token.user)


@app.get("/held")
def held():
    return ("", 200 if sessions.wait_for_held(request.args["user"], int(request.args["count"])) else 504)


@app.post("/expire")
def expire():
    sessions.expire(request.args["user"])
    return ""


@app.get("/counts")
def counts():
    count = sessions.counts[request.args["user"]]
    return jsonify(renewed=count["renewed"], refused=count["refused"])


@app.get("/")
def index():
    return ""


class Quiet(WSGIRequestHandler):
    def log_request(self, *args):
        pass


if __name__ == "__main__":
    run_simple("127.0.0.1", int(sys.argv[1]), app, threaded=True, request_handler=Quiet)
