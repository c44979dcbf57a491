"""An OAuth 2 server for the tests: short-lived bearer tokens, and refresh tokens that change at each use and can be revoked.

    python oauth_server.py PORT

Authlib decides what is right: the grants of RFC 6749, PKCE (RFC 7636), device codes (RFC 8628), JWTs of clients (RFC 7523),
revocation (RFC 7009), and bearer tokens (RFC 6750). Each user has a session, named like the user; any name is accepted, with the
password "tea".

    POST /token              all grants; the scope of a password is the lifetime of its access token, in seconds
    GET  /authorize          redirects with a code for the user of ?user, at once
    POST /device             begins a sign-in on another device
    POST /allow              for the test: the user of ?user signs in with the ?code of a device
    POST /key                for the test: the public key of the client "service", in PEM
    POST /revoke             revokes a token
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
from authlib.oauth2.rfc6749 import AuthorizationCodeMixin, ClientMixin, TokenMixin, grants
from authlib.oauth2.rfc6750 import BearerTokenValidator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion
from authlib.oauth2.rfc7636 import CodeChallenge
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialMixin
from flask import Flask, jsonify, request
from werkzeug.serving import WSGIRequestHandler, run_simple

WAIT = 60  # seconds; longer than any test takes


class Client(ClientMixin):
    """An app: one that keeps a secret or a key, or one that cannot."""

    def __init__(self, client_id, secret=None, has_key=False):
        self.client_id, self.secret, self.has_key, self.key = client_id, secret, has_key, None

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return scope

    def check_client_secret(self, client_secret):
        return self.secret is not None and secrets.compare_digest(client_secret, self.secret)

    def check_endpoint_auth_method(self, method, endpoint):
        if self.has_key:
            return method == KeyAssertion.CLIENT_AUTH_METHOD
        wanted = {"none"} if self.secret is None else {"client_secret_basic", "client_secret_post"}
        return method in wanted

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_redirect_uri(self, redirect_uri):
        return redirect_uri == "shop://signed-in"

    def check_grant_type(self, grant_type):
        return True


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
clients = {
    "shop": Client("shop", "s3cret: &%"),
    "phone": Client("phone"),
    "service": Client("service", has_key=True),
}


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


class Code(AuthorizationCodeMixin):
    """A code, and the request that it was issued for."""

    def __init__(self, code, request):
        self.code, self.user, self.client_id = code, request.user, request.client.client_id
        payload = request.payload
        self.redirect_uri, self.scope = payload.redirect_uri, payload.scope
        self.code_challenge = payload.data.get("code_challenge")
        self.code_challenge_method = payload.data.get("code_challenge_method")

    def get_redirect_uri(self):
        return self.redirect_uri

    def get_scope(self):
        return self.scope


class CodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]
    codes = {}

    def save_authorization_code(self, code, request):
        self.codes[code] = Code(code, request)

    def query_authorization_code(self, code, client):
        found = self.codes.get(code)
        return found if found and found.client_id == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        del self.codes[authorization_code.code]

    def authenticate_user(self, authorization_code):
        return authorization_code.user


class ServiceGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt"]


class Device(DeviceCredentialMixin):
    """A sign-in on another device."""

    def __init__(self, client_id, scope, data):
        self.client_id, self.scope, self.user_code = client_id, scope, data["user_code"]
        self.ends = time.time() + data["expires_in"]

    def get_client_id(self):
        return self.client_id

    def get_scope(self):
        return self.scope or ""

    def get_user_code(self):
        return self.user_code

    def is_expired(self):
        return time.time() >= self.ends


class Devices(DeviceAuthorizationEndpoint):
    CLIENT_AUTH_METHODS = ["none"]
    INTERVAL = 1
    devices, users = {}, {}

    def get_verification_uri(self):
        return "https://login.example/device"

    def save_device_credential(self, client_id, scope, data):
        self.devices[data["device_code"]] = Device(client_id, scope, data)


class DeviceGrant(DeviceCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none"]

    def query_device_credential(self, device_code):
        return Devices.devices.get(device_code)

    def query_user_grant(self, user_code):
        return Devices.users.get(user_code)

    def should_slow_down(self, credential):
        return False


class KeyAssertion(JWTBearerClientAssertion):
    CLIENT_AUTH_METHOD = "private_key_jwt"
    used = set()

    def get_audiences(self):
        return [request.base_url]

    def validate_jti(self, claims, jti):
        is_new = jti not in self.used
        self.used.add(jti)
        return is_new

    def resolve_client_public_key(self, client):
        return client.key


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
    "expires_in": int(scope) if (scope or "").isdigit() else 3600,
    "scope": scope or "",
})
server.register_client_auth_method(KeyAssertion.CLIENT_AUTH_METHOD, KeyAssertion())
server.register_grant(PasswordGrant)
server.register_grant(RefreshGrant)
server.register_grant(CodeGrant, [CodeChallenge(required=True)])
server.register_grant(ServiceGrant)
server.register_grant(DeviceGrant)
server.register_endpoint(Devices)
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


@app.get("/authorize")
def authorize():
    return server.create_authorization_response(grant_user=request.args["user"])


@app.post("/device")
def device():
    return server.create_endpoint_response(Devices.ENDPOINT_NAME)


@app.post("/allow")
def allow():
    Devices.users[request.args["code"]] = (request.args["user"], request.args["allows"] == "true")
    return ""


@app.post("/key")
def key():
    clients["service"].key = request.get_data(as_text=True)
    return ""


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
