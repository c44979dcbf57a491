// SPDX-License-Identifier: MIT
import Foundation
@testable import _TargetKitRedaction
import TargetKit
import TestSupport
import Testing

@Suite("Names of secrets", .throttled)
struct SecretFieldsTests {
    static let names: [String] = [
        "token", "Token", "TOKEN", "accessToken", "access_token", "ACCESS-TOKEN", "AccessTOKEN", "accesstoken",
        "X-Auth-Token", "oauth_token", "OAuthToken", "OAuth2Token", "token2", "remember_token",
        "reset_password_token", "deviceToken", "refreshtoken", "csrfToken", "X-XSRF-TOKEN", "tokens",
        "refresh_tokens", "secret", "client_secret", "clientsecret", "appSecret", "secrets", "key", "apiKey",
        "api_key", "APIKey", "apikey", "X-API-KEY", "X-Session-Key", "Ocp-Apim-Subscription-Key", "privateKeyPem",
        "secret_key_base", "access_key_id", "encryptionKey", "keys", "password", "passWord", "PassWord", "passwd",
        "userPassword", "password_hash", "old-password", "smtp_pass", "pass", "passphrase", "pass_code", "passCode",
        "pwd", "session", "sessionId", "session_id", "SESSIONID", "PHPSESSID", "JSESSIONID", "sid", "connect.sid",
        "credential", "awsCredentials", "X-Amz-Credential", "auth", "X-Auth", "auth_user", "Authorization",
        "authorization_code", "authentication", "Proxy-Authorization", "signature", "X-Hub-Signature-256",
        "X-Amz-Signature", "sig", "oauth_signature", "hmac", "otp", "totp", "pin", "user.pin", "PIN1", "pinCode",
        "cvv", "cvv2", "jwt", "bearer", "cookie", "Set-Cookie", "code_verifier", "client_assertion", "cardNumber",
        "card_number", "device_code", "user[password]", "user[password][0]", "verificationCode", "backup_codes",
        "Authentication-Info",
        // Signatures and one-time values of stores and payment services.
        "sign", "X-Sign", "paySign", "paysign", "sign_v2", "CB-ACCESS-SIGN", "OK-ACCESS-SIGN", "KC-API-SIGN",
        "API-Sign", "ticket", "jsapi_ticket", "ComponentVerifyTicket", "signed_request", "encryptedData",
        // Codes, in any notation.
        "js_code", "verifyCode", "verifycode", "VERIFY_CODE", "vcode", "smsCode", "loginCode", "checkCode",
        "imgCode",
        "mfa_code", "2fa_code", "two_factor_code", "one_time_code", "oneTimeCode", "email_code", "reset_code",
        "captcha", "captchaCode", "g-recaptcha-response", "h-captcha-response", "cf-turnstile-response", "yzm",
        // Passwords, sessions and keys under other names.
        "mima", "zhifumima", "paypwd", "payPwd", "newpwd", "skey", "p_skey", "SESSDATA", "bili_jct", "ak", "AK",
        "sk",
        "tk", "X-Ak", "access_sk", "SAMLResponse", "SAMLRequest", "saml_response", "magic_link", "resetLink",
        "mnemonic", "seedPhrase", "connection_string", "ConnectionStrings", "dsn", "SENTRY_DSN", "psk", "wifi_psk",
        "pan", "PAN", "card_pan", "pan_number", "cardNo", "pat", "github_pat", "mac", "user[mac]",
        "security_answer",
    ]

    @Test(
        "Names with a word for a secret are secret, in any notation",
        arguments: names
    )
    func secrets(_ name: String) {
        #expect(SecretFields.isSecret(name))
        #expect(SecretFields.isSecretParameter(name))
    }

    @Test(
        "Names that only contain the letters of such a word, properties of secrets, and harmless keys stay readable",
        arguments: [
            "", "-", "1", "monkey", "donkey_id", "turkey", "keyboard", "keyboardType", "keyword", "keywords", "keynote",
            "hockey", "whiskey", "author", "authors", "authorName", "author_id", "co-authors", "authority", "authentic",
            "WWW-Authenticate", "tokenizer", "tokenizerName", "tokenize", "tokenization", "secretary", "secretariat",
            "sessional", "obsession", "possession", "professional", "designation", "signal", "signed", "significant",
            "assign", "design", "passenger", "passengers", "passage", "passport", "compass", "bypass", "passthrough",
            "pass_count", "passThrough", "passRate", "pinned", "pineapple", "pin_color", "opinion", "shipping",
            "spinner", "sidebar", "inside", "siding", "cookies_accepted", "cookiePolicy", "cookie_consent",
            "isTokenValid", "hasPassword", "is_secret", "requiresAuth", "needs_session", "max_tokens", "maxTokens",
            "total_tokens", "prompt_tokens", "completionTokens", "token_count", "token_type", "tokenType",
            "token_endpoint", "token_expires_in", "tokenExpiresAt", "password_changed_at", "passwordPolicy",
            "password_required", "authMethod", "auth_provider", "authorization_endpoint", "session_count",
            "sessionTimeout", "signature_algorithm", "signatureMethod", "client_assertion_type", "credential_type",
            "keyPath", "key_path", "keyName", "key_features", "key_value_store", "public_key", "publicKey",
            "primaryKey", "foreign_key", "sortKey", "cacheKey", "Idempotency-Key", "Surrogate-Key", "Sec-WebSocket-Key",
            "page_token", "pageToken", "nextPageToken", "hotkey", "hot_key", "id", "name", "email", "user_id", "code",
            "grant_type", "client_id", "redirect_uri", "state", "scope", "expires_in", "nonce", "ETag", "X-Request-Id",
            "Content-Type", "Retry-After", "Cache-Control", "Location", "status", "message", "data", "value", "url",
            // Short words that are secrets elsewhere.
            "company", "companyName", "spanner", "panel", "span", "expand", "japan", "pan_zoom", "panGesture", "macOS",
            "macAddress", "mac_address", "client_mac", "mac_version", "machine", "macro", "design", "designer",
            "assign",
            "assigned_to", "campaign", "resign", "sign_in", "signIn", "signUp", "sign_up_url", "signOut",
            "sign_in_count",
            "sign_type", "signType", "signMethod", "sign_date", "zodiac_sign", "starSign", "dollarSign", "codeSign",
            "stock", "stock_sk", "name_sk", "task", "taskId", "ask", "desk", "disk", "risk", "skip", "sku", "skill",
            "break", "peak", "akin", "tkinter", "path", "patch", "pattern", "patient", "dispatch", "tickets",
            "ticket_id",
            "ticketNumber", "ticketCount", "event_ticket", "supportTicket", "ticker", "sticker", "capture",
            "captured_at",
            "captchaEnabled", "need_captcha", "encrypted", "encryption", "connection", "connectionId", "string", "link",
            "links", "permalink", "deepLink", "verified", "verify", "verify_url", "verification_status", "one_time",
            "timecode", "time_code", "statusCode", "error_code", "currencyCode", "promo_code", "qrCode", "barcode",
            "phone_code", "js", "jsVersion", "saml_enabled", "dataset", "request", "response", "responseData", "answer",
            "x", "v", "v2", "x-y", "account_no", "order_no", "image_data", "anima", "maxima",
            "country_code", "postal_code", "zipcode", "number", "phone_number", "word", "crossword", "account",
        ]
    )
    func readable(_ name: String) {
        #expect(!SecretFields.isSecret(name))
    }

    @Test("The code of a query or form is secret", arguments: ["code", "Code", "CODE"])
    func code(_ name: String) {
        #expect(SecretFields.isSecretParameter(name))
        #expect(!SecretFields.isSecretParameter("country_" + name))
    }

    @Test("What is a secret in a log is one for the core, too: each name, and each two words")
    func core() {
        let words = SecretMeanings.ofWords.keys.sorted()
        let firsts = words + SecretMeanings.pairs.sorted() + ["x", "user", "wechat", "name", "path", "one_time"]
        var missed: [String] = []
        let isComplete = ProcessInfo.processInfo.environment["TARGETKIT_SECRETS"] == "1"
        for (row, first) in firsts.enumerated() {
            var names = [first, first.uppercased(), first.capitalized, "my" + first, first + "2", "a[\(first)]"]
            for (column, second) in words.enumerated() where isComplete || (row + column).isMultiple(of: 17) {
                names += ["\(first)_\(second)", first + second.capitalized]
            }
            missed += names.filter { SecretFields.isSecret($0) && !SecretFields.canBeSecret($0) }
        }
        missed += Self.names.filter { !SecretFields.canBeSecret($0) }
        missed += SecretName.all.filter { SecretFields.isSecret($0) && !SecretFields.canBeSecret($0) }
        #expect(missed.isEmpty, "\(missed.count): \(missed.prefix(50))")
    }
}
