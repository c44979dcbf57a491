// SPDX-License-Identifier: MIT
import Foundation
import TargetKit
import TargetKitPlugins

/// A provider for each module, and what the providers share.
package struct ShopClient: Sendable {
    /// What differs between an app, its tests and the demo.
    package struct Settings: Sendable {
        package var environments: EnvironmentStore
        package var transport: any Transport = SystemTransport.shared
        /// The languages of the person, the preferred one first.
        package var languages: [String] = ["en"]
        package var retryPolicy = RetryPolicy(attempts: 4, baseDelay: .milliseconds(100), maximumDelay: .seconds(1))
        /// Measures the delays of retries.
        package var clock: any Clock<Duration> = ContinuousClock()
        /// The time of day, by which tokens expire.
        package var now: @Sendable () -> Date = { Date() }
        /// Plugins that only observe: logs, traffic, a loading indicator, a cache.
        package var plugins: [any Plugin] = []
        package var onRetry: @Sendable (FailedAttempt) -> Void = { _ in }
        /// Replaces the network by the samples of the targets.
        package var isStubbed = false

        package init(_ environments: EnvironmentStore = ShopEnvironment.production.store()) {
            self.environments = environments
        }
    }

    /// All calls of the app, which a sign-out or the end of the program cancels.
    package let scope = RequestScope()
    package let session = Session()
    package let activity = Activity()
    package let authentication: AuthenticationPlugin<ShopAuthenticator>
    package let settings: Settings

    package let auth: Provider<Auth>
    package let account: Provider<Account>
    package let catalog: Provider<Catalog>
    package let orders: Provider<Orders>
    package let media: Provider<Media>
    package let films: Provider<Film>
    package let feed: Provider<Feed>
    package let waiting: Provider<WaitingOrder>

    package init(_ settings: Settings) {
        self.settings = settings
        let shared = Self.plugins(settings, activity)
        let auth: Provider<Auth> = Self.provider(settings, scope, shared)
        let authentication = Self.authentication(auth, session, now: settings.now)
        let unauthorized = UnauthorizedPlugin(after: authentication) { [session] _ in session.end() }
        // Each plugin has a place, which determines the order of their hooks.
        let plugins = shared + [authentication, unauthorized]
        self.auth = auth
        self.authentication = authentication
        account = Self.provider(settings, scope, plugins)
        catalog = Self.provider(settings, scope, plugins)
        orders = Self.provider(settings, scope, plugins)
        media = Self.provider(settings, scope, plugins)
        films = Self.provider(settings, scope, plugins)
        feed = Self.provider(settings, scope, plugins)
        waiting = Self.provider(settings, scope, plugins)
    }

    /// Signs in, and gives the tokens to the plugin that adds them to the calls.
    package func signIn(_ credentials: Credentials) async throws {
        let tokens = try await auth.request(.signIn(credentials), as: SignedIn.self).tokens(now: settings.now())
        try await authentication.signIn(tokens)
        session.begin(tokens.accessToken)
    }

    private static func plugins(_ settings: Settings, _ activity: Activity) -> [any Plugin] {
        [
            EnvironmentPlugin(settings.environments),
            DefaultHeadersPlugin(languages: { [languages = settings.languages] in languages }),
            RetryPlugin(
                policy: settings.retryPolicy,
                budget: RetryBudget(minimum: 100),
                onRetry: { [settings] attempt, _ in settings.onRetry(attempt) }
            ),
            NetworkActivityPlugin { change, _ in activity.note(change) },
        ] + settings.plugins
    }

    private static func authentication(
        _ auth: Provider<Auth>,
        _ session: Session,
        now: @escaping @Sendable () -> Date
    ) -> AuthenticationPlugin<ShopAuthenticator> {
        let authenticator = ShopAuthenticator(now: now) { tokens in
            let signedIn = try await auth.request(.refresh(token: tokens.refreshToken), as: SignedIn.self)
            session.refresh(signedIn.accessToken)
            return signedIn.tokens(now: now())
        }
        // The plugin for 401 signs out, after it has cancelled the other calls.
        return AuthenticationPlugin(authenticator: authenticator) { _ in }
    }

    private static func provider<Target: ShopTarget>(
        _ settings: Settings,
        _ scope: RequestScope,
        _ plugins: [any Plugin]
    ) -> Provider<Target> {
        Provider(
            endpointClosure: { [environments = settings.environments] target in
                try Endpoint(target, at: environments.current.baseURL)
            },
            stubClosure: { [isStubbed = settings.isStubbed] _ in isStubbed ? .immediate : .never },
            transport: settings.transport,
            plugins: plugins,
            scope: scope,
            clock: settings.clock
        )
    }
}
