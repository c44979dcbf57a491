// SPDX-License-Identifier: MIT
import Foundation
import Observation
import ShopAPI
import TargetKit
import TargetKitOffline
import TargetKitPlugins

/// The models of all screens.
@available(iOS 17, macOS 14, *)
@MainActor @Observable
public final class ShopModel {
    /// The screen to sign in.
    public let login: LoginModel
    /// The screen with the products.
    public let list: ListModel
    /// The screen to upload a picture.
    public let upload: UploadModel
    /// The screen with the orders that wait.
    public let offline: OfflineModel

    private let client: ShopClient
    private let outbox: OfflineOutbox<WaitingOrder>

    /// Creates the models of an app.
    ///
    /// - Parameters:
    ///   - server: The address of a shop's server, for example that of `shop serve`; `nil`: the samples of the targets
    ///     take the place of the network, as in a preview.
    ///   - folder: A folder for the cache and for orders that wait, for example in Application Support.
    /// - Throws: An error if the folder can't be used.
    public convenience init(server: URL?, storedIn folder: URL) throws {
        var settings = ShopClient.Settings(ShopEnvironment.production.store(at: server ?? ShopServers.production))
        settings.isStubbed = server == nil
        settings.languages = Locale.preferredLanguages
        settings.plugins = [ResponseCachePlugin(ResponseCache(storedIn: folder.appending(path: "responses")))]
        let client = ShopClient(settings)
        self.init(client, try client.outbox(storedIn: folder.appending(path: "orders")))
    }

    package init(_ client: ShopClient, _ outbox: OfflineOutbox<WaitingOrder>) {
        self.client = client
        self.outbox = outbox
        login = LoginModel(client)
        list = ListModel(client)
        upload = UploadModel(client)
        offline = OfflineModel(outbox)
    }

    /// The model of a product's screen.
    package func detail(of product: Product) -> DetailModel { DetailModel(product, client, outbox) }
}
