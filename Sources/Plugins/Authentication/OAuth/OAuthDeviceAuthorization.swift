// SPDX-License-Identifier: MIT
import TargetKit

/// A sign-in on another device, for a television or a command-line tool (RFC 8628).
///
/// ```swift
/// let device = try await client.deviceAuthorization(at: deviceURL, scope: "orders")
/// show("Open \(device.verificationURL) and enter \(device.userCode)")
/// try await authentication.signIn(client.credential(for: device))
/// ```
public struct OAuthDeviceAuthorization: Sendable, Hashable {
    /// The code that the user enters.
    public let userCode: String
    /// The page on which the user enters the code.
    public let verificationURL: URL
    /// The page with the code in its URL, for example for a QR code; `nil` if the server doesn't provide it.
    public let completeVerificationURL: URL?
    /// The time when the code expires, by this device's clock.
    public let expiresAt: Date
    let deviceCode: String
    let interval: Duration

    init(_ response: Response, now: Date, leavingOut secrets: [String]) throws(OAuthError) {
        guard (200...299).contains(response.statusCode) else { throw OAuthError(response, leavingOut: secrets) }
        guard let fields = OAuthFields(response) else { throw .unreadable("the body isn't a JSON object") }
        // Google's servers use `verification_url`.
        let page = fields["verification_uri"] ?? fields["verification_url"]
        guard let deviceCode = fields["device_code"], let userCode = fields["user_code"],
            let url = page.flatMap({ URL(string: $0) }), let lifetime = fields.number("expires_in"),
            lifetime > 0, lifetime < 1e9
        else { throw .unreadable("device_code, user_code, verification_uri or expires_in is missing") }
        self.deviceCode = deviceCode
        self.userCode = userCode
        verificationURL = url
        completeVerificationURL = fields["verification_uri_complete"].flatMap { URL(string: $0) }
        expiresAt = now.addingTimeInterval(lifetime)
        // The default is 5 seconds (RFC 8628 §3.2).
        interval = .seconds(fields.number("interval").flatMap { (1...3600).contains($0) ? $0 : nil } ?? 5)
    }
}

extension OAuthDeviceAuthorization: RedactedDescription {
    /// The page, without the codes.
    package var redactedDescription: String { "device authorization at \(RedactedURL(verificationURL))" }
}

extension OAuthClient {
    /// Starts a sign-in on another device (RFC 8628 §3.1).
    ///
    /// - Parameters:
    ///   - url: The device authorization endpoint, with the scheme https.
    ///   - scope: Names separated by spaces; default `nil`: the server's default.
    /// - Throws: ``OAuthError`` if the server rejected the request, or the error of the request.
    public func deviceAuthorization(at url: URL, scope: String? = nil) async throws -> OAuthDeviceAuthorization {
        var fields = ["client_id": id]
        fields["scope"] = scope
        let (response, secrets) = try await post(fields, secrets: [], to: url)
        return try OAuthDeviceAuthorization(response, now: now(), leavingOut: secrets)
    }

    /// Waits until the user signs in on the other device (RFC 8628 §3.4). Polls the token endpoint as often as the
    /// server allows, and less often while it can't be reached.
    ///
    /// - Parameters:
    ///   - device: The sign-in.
    ///   - clock: Measures the waits; default: the continuous clock.
    /// - Throws: ``OAuthError``, with the code `access_denied` if the user denied the sign-in, or `expired_token` if
    ///   the code has expired; `CancellationError` if the task is cancelled.
    public func credential(
        for device: OAuthDeviceAuthorization,
        clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> OAuthCredential {
        var interval = device.interval
        while true {
            try await clock.wait(for: interval)
            guard now() < device.expiresAt else {
                throw OAuthError.refused(code: "expired_token", message: nil, statusCode: 400)
            }
            do {
                return try await credential(.deviceCode(device.deviceCode))
            } catch OAuthError.refused("authorization_pending", _, _) {
                continue
            } catch OAuthError.refused("slow_down", _, _) {
                interval += .seconds(5)
            } catch  where !error.isCancellation && OAuthAuthenticator.isTransient(error) {
                interval = min(interval * 2, .seconds(60))
            }
        }
    }
}
