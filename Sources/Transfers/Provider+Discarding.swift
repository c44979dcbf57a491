// SPDX-License-Identifier: MIT
import TargetKit
import _TargetKitFiles

extension Provider {
    /// Removes the stored state of the target's interrupted download or upload from this device, so that the next call
    /// starts over.
    ///
    /// Call it, for example, when the user abandons a transfer, or if a server neither continues an upload nor reports
    /// that it is gone. The server stores its part of an upload until the upload expires.
    /// `ResumableUpload.terminatedOnCancel` deletes it.
    ///
    /// It has no effect on other targets, while a call is transferring the target, or on a download that the server
    /// names if plugins change its URL.
    public func discardTransfer(of target: Target) async {
        await DispatchQueue(label: "TargetKit.discard").run { self.removePart(of: target) }
        guard let endpoint = try? endpoint(of: target), let upload = endpoint.task.driver as? ResumableUpload,
            let request = try? await originalRequest(of: endpoint)
        else { return }
        // Fails while a call is transferring the target.
        try? await UploadSession.discard(upload, of: request, endpoint.task)
    }

    /// Removes the stored bytes of a target's interrupted download, unless a call is using them. Does nothing for other
    /// targets, or if plugins change the URL of a download whose file the server names.
    func removePart(of target: Target, options: CallOptions = CallOptions()) {
        guard let endpoint = try? endpoint(of: target, options: options), let destination = endpoint.task.download,
            destination.isResumable, let url = try? endpoint.urlRequest().url
        else { return }
        let place = destination.part(for: url)
        guard FileStatus(of: place, followsLinks: false) != nil else { return }
        DownloadPart.open(place, permissions: nil)?.remove()
    }
}

extension UploadSession {
    /// Identifies an upload, and the version of its content.
    static func identity(
        of upload: ResumableUpload,
        original: URLRequest,
        content: UploadContent
    ) async -> (name: String, version: String) {
        let words =
            [
                upload.uploadProtocol.rawValue, original.httpMethod ?? "", original.url?.absoluteString ?? "",
                upload.metadataField ?? "",
            ] + (upload.url.map { [$0.absoluteString] } ?? [])
        // Hashing data can take long.
        return await DispatchQueue(label: "TargetKit.upload").run {
            ((words + [content.name]).joined(separator: "\n"), SHA256Hasher.hexadecimal(of: content.version))
        }
    }

    /// Removes the state of an interrupted upload.
    ///
    /// - Throws: ``UploadFailure/inProgress`` if a call is performing the upload.
    static func discard(_ upload: ResumableUpload, of original: URLRequest, _ task: HTTPTask) async throws {
        let content = try UploadContent(task.content, data: original.httpBody)
        let store = try await UploadStore.open(
            identity(of: upload, original: original, content: content).name,
            in: upload.folder
        )
        await store.remove()
        await store.end()
    }
}
