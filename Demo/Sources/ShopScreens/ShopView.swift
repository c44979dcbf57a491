// SPDX-License-Identifier: MIT
#if canImport(SwiftUI)
import Foundation
import ShopAPI
import SwiftUI

/// The app: the screen to sign in, then the products, an upload and the orders that wait.
@available(iOS 17, macOS 14, *)
public struct ShopView: View {
    @State private var model: ShopModel

    /// Creates the view.
    public init(_ model: ShopModel) {
        _model = State(initialValue: model)
    }

    /// The screen to sign in, or the tabs.
    public var body: some View {
        if model.login.isSignedIn {
            TabView {
                ListScreen(model: model).tabItem { Label("Teas", systemImage: "leaf") }
                UploadScreen(model: model.upload).tabItem { Label("Picture", systemImage: "photo") }
                OfflineScreen(model: model.offline).tabItem { Label("Waiting", systemImage: "tray") }
            }
        } else {
            LoginScreen(model: model.login)
        }
    }
}

@available(iOS 17, macOS 14, *)
private struct LoginScreen: View {
    @Bindable var model: LoginModel

    var body: some View {
        Form {
            TextField("User", text: $model.user)
            SecureField("Password", text: $model.password)
            if let message = model.message { Text(message).foregroundStyle(.red) }
            Button("Sign in") { Task { await model.signIn() } }.disabled(!model.canSignIn)
            if model.isSigningIn { ProgressView() }
        }
    }
}

@available(iOS 17, macOS 14, *)
private struct ListScreen: View {
    let model: ShopModel

    var body: some View {
        @Bindable var list = model.list
        NavigationStack {
            List(list.products) { product in
                NavigationLink(value: product) {
                    LabeledContent(product.name, value: euros(product.cents))
                }
            }
            .overlay { if let message = list.message, list.products.isEmpty { Text(message) } }
            .safeAreaInset(edge: .top) { if list.isStale { Text("Offline: these may be out of date").font(.footnote) } }
            .navigationTitle("Teas")
            .navigationDestination(for: Product.self) { product in
                DetailScreen(model: model.detail(of: product))
            }
            .searchable(text: $list.searchText)
            // The closure is `@Sendable`, and can't capture the local `list`.
            .refreshable { await model.list.load() }
            .task(id: list.searchText) { await list.load() }
        }
    }
}

@available(iOS 17, macOS 14, *)
private struct DetailScreen: View {
    @State var model: DetailModel

    var body: some View {
        Form {
            LabeledContent("Price", value: euros(model.product.cents))
            if let left = model.left { LabeledContent("Left", value: "\(left)") }
            Stepper("Packets: \(model.count)", value: $model.count, in: 1...20)
            Button("Order") { Task { await model.placeOrder() } }.disabled(model.order == .sending)
            result
        }
        .navigationTitle(model.product.name)
        .task { await model.load() }
    }

    @ViewBuilder private var result: some View {
        switch model.order {
        case .none: EmptyView()
        case .sending: ProgressView()
        case .placed(let number): Text("Order \(number)")
        case .waiting: Text("The order is sent when you're online again.")
        case .failed(let message): Text(message).foregroundStyle(.red)
        }
    }
}

@available(iOS 17, macOS 14, *)
private struct UploadScreen: View {
    @Bindable var model: UploadModel

    var body: some View {
        Form {
            TextField("Caption", text: $model.caption)
            switch model.state {
            case .idle: uploadButton
            case .uploading(let fraction, let rate):
                ProgressView(value: fraction)
                if let rate { Text("\(Int(rate / 1000)) KB/s") }
                Button("Cancel", role: .cancel) { model.cancel() }
            case .finished(let bytes):
                Text("\(bytes) bytes uploaded")
                uploadButton
            case .failed(let message):
                Text(message).foregroundStyle(.red)
                uploadButton
            }
        }
    }

    private var uploadButton: some View {
        Button("Upload a cup of tea") { model.upload(Picture.cup.png, fileName: Picture.cup.fileName) }
    }
}

@available(iOS 17, macOS 14, *)
private struct OfflineScreen: View {
    let model: OfflineModel

    var body: some View {
        List(model.rows) { row in
            VStack(alignment: .leading) {
                Text(row.title)
                if let message = row.message { Text(message).font(.footnote).foregroundStyle(.red) }
            }
            .swipeActions {
                Button("Remove", role: .destructive) { Task { await model.remove(row.id) } }
            }
        }
        .overlay { if model.rows.isEmpty { Text("No orders wait") } }
        .toolbar { Button("Send now") { model.sendNow() } }
        .task { await model.follow() }
    }
}

#if DEBUG
@available(iOS 17, macOS 14, *)
#Preview {
    if let model = try? ShopModel(server: nil, storedIn: .temporaryDirectory) { ShopView(model) }
}
#endif
#endif
