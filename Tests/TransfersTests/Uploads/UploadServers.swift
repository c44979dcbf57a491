// SPDX-License-Identifier: MIT
import Foundation
import PluginsTestSupport
import TargetKit
import TargetKitTransfers
import TargetKitTesting
import TestSupport

/// A server of tus 1.0.0 whose responses a test can replace.
final class TusServer: Sendable {
    struct Upload: Sendable {
        var length: Int
        var metadata: String?
        var data = Data()
    }

    struct State: Sendable {
        var uploads: [String: Upload] = [:]
        var count = 0
        /// What the server says in its response to OPTIONS.
        var options: HTTPHeaders = [
            "Tus-Resumable": "1.0.0", "Tus-Version": "1.0.0", "Tus-Extension": "creation,termination,expiration",
        ]
        /// The number of bytes of a request that are stored; `nil`: all.
        var storedPart: Int?
    }

    let state = Locked(State())
    let server: TestServer
    private let locationBase: Locked<String>

    /// - Parameter replace: Returns the response to a request, instead of this server's, by its number.
    init(
        options: HTTPHeaders = [:],
        replace: @escaping @Sendable (_ request: TestServer.Request, _ number: Int) -> TestServer.Response? = { _, _ in
            nil
        }
    ) throws {
        let state = state
        let base = Locked("")
        locationBase = base
        let numbers = Locked(0)
        state.withLock { $0.options = $0.options.merging(options) }
        server = try TestServer { request in
            let number = numbers.withLock { number in
                defer { number += 1 }
                return number
            }
            if let response = replace(request, number) { return response }
            return Self.response(to: request, state, base.withLock(\.self))
        }
    }

    /// Lets `Location` begin with an origin, instead of being a path.
    func setLocationBase(_ base: String) { locationBase.withLock { $0 = base } }

    var baseURL: URL { server.baseURL }
    /// The methods of the requests, in their order.
    var methods: [String] { server.requests.map(\.method.rawValue) }
    /// The content of the only upload.
    var content: Data? { state.withLock { $0.uploads.count == 1 ? $0.uploads.first?.value.data : nil } }

    static func response(
        to request: TestServer.Request,
        _ state: Locked<State>,
        _ base: String = ""
    ) -> TestServer.Response {
        let common: HTTPHeaders = ["Tus-Resumable": "1.0.0"]
        return state.withLock { state in
            switch request.method.rawValue {
            case "OPTIONS": return .status(204, headers: state.options)
            case "POST":
                guard let length = request.headers["Upload-Length"].flatMap({ Int($0) }) else { return .status(400) }
                state.count += 1
                let path = "/files/\(state.count)"
                state.uploads[path] = Upload(length: length, metadata: request.headers["Upload-Metadata"])
                state.uploads[path]?.data = request.body
                var headers = common.merging(["Location": base + path])
                if !request.body.isEmpty { headers["Upload-Offset"] = "\(request.body.count)" }
                return .status(201, headers: headers)
            default: break
            }
            guard let upload = state.uploads[request.path] else { return .status(404, headers: common) }
            switch request.method.rawValue {
            case "HEAD":
                let fields: HTTPHeaders = [
                    "Upload-Offset": "\(upload.data.count)", "Upload-Length": "\(upload.length)",
                    "Cache-Control": "no-store",
                ]
                return .status(200, headers: common.merging(fields))
            case "PATCH":
                guard request.headers["Upload-Offset"] == "\(upload.data.count)",
                    request.headers["Content-Type"] == "application/offset+octet-stream"
                else { return .status(409, headers: common) }
                state.uploads[request.path]?.data.append(request.body.prefix(state.storedPart ?? .max))
                let count = state.uploads[request.path]?.data.count ?? 0
                return .status(204, headers: common.merging(["Upload-Offset": "\(count)"]))
            case "DELETE":
                state.uploads[request.path] = nil
                return .status(204, headers: common)
            default: return .status(405, headers: common)
            }
        }
    }
}

/// A plugin that requests another attempt after the failures for which a closure returns `true`.
struct RetryingPlugin: Plugin {
    let shouldRetry: @Sendable (TargetKitError, RequestContext) -> Bool

    func retry(_ result: Result<Response, TargetKitError>, context: RequestContext) async -> RetryDecision {
        guard case .failure(let error) = result, shouldRetry(error, context) else { return .doNotRetry }
        return .retry(after: .zero)
    }
}

/// A file with random bytes, a folder for the state of its upload, and calls that upload it.
struct UploadFixture: Sendable {
    let folder: TemporaryFolder
    let file: URL
    let content: Data
    var states: URL { folder.url.appendingPathComponent("states") }

    init(size: Int, seed: UInt64 = 3) throws {
        folder = try TemporaryFolder()
        content = ServedFile(size: size, seed: seed).data
        file = try folder.file("video.mp4", content)
    }

    /// The names of the files of the state.
    var stateNames: [String] { (try? FileManager.default.contentsOfDirectory(atPath: states.path)) ?? [] }

    func target(_ url: URL, _ upload: ResumableUpload, method: HTTPMethod = .post) -> TestTarget {
        TestTarget(url).with {
            $0.method = method
            $0.task = .upload(file: file).resumable(upload.stateFolder(states))
            $0.validation = .successCodes
        }
    }

    func provider(_ plugins: [any Plugin] = [], transport: (any Transport)? = nil) -> Provider<TestTarget> {
        Provider(transport: transport ?? SystemTransport.patient, plugins: plugins)
    }
}
