// SPDX-License-Identifier: MIT
import TargetKit
import TargetKitPlugins

/// A provider for each module, and what the providers share.
struct ShopClient: Sendable {
    /// All calls of the app, which a sign-out or the end of the program cancels.
    let scope = RequestScope()
    let session = Session()
    let activity = Activity()
    let unauthorized: UnauthorizedPlugin

    let auth: Provider<Auth>
    let catalog: Provider<Catalog>
    let orders: Provider<Orders>
    let media: Provider<Media>

    init(logLevel: NetworkLoggerPlugin.Level, console: Console) {
        let unauthorized = UnauthorizedPlugin(bodyCodes: [BodyCode(keyPath: "status", equals: 401)]) { [session] _ in
            session.end()
        }
        self.unauthorized = unauthorized
        // Each plugin has a place, which determines the order of their hooks.
        let plugins: [any Plugin] = [
            LoadingPlugin(delay: .milliseconds(150)) { isLoading in
                console.log(isLoading ? "(loading is shown)" : "(loading is hidden)")
            },
            AccessTokenPlugin { [session] _ in session.token },
            unauthorized,
            NetworkLoggerPlugin(level: logLevel) { line in console.log(line) },
            NetworkActivityPlugin { [activity] change, _ in activity.note(change) },
        ]
        auth = Provider(plugins: plugins, scope: scope)
        catalog = Provider(plugins: plugins, scope: scope)
        orders = Provider(plugins: plugins, scope: scope)
        media = Provider(plugins: plugins, scope: scope)
    }
}
