// SPDX-License-Identifier: MIT
import Foundation
import Observation
import ShopAPI
import TargetKit
import TargetKitPlugins

/// Uploading a picture, with its progress.
@available(iOS 17, macOS 14, *)
@MainActor @Observable
public final class UploadModel {
    /// What has become of the upload.
    public enum State: Equatable, Sendable {
        case idle
        /// The fraction from 0 to 1, and the rate in bytes per second if it is known.
        case uploading(fraction: Double, rate: Double?)
        case finished(bytes: Int)
        case failed(String)
    }

    /// The text below the picture.
    public var caption = ""
    /// What has become of the upload.
    public private(set) var state = State.idle

    private let client: ShopClient
    private var handle: RequestHandle?

    package init(_ client: ShopClient) {
        self.client = client
    }

    /// Uploads a picture, unless one is being uploaded. The progress and the result arrive on the main actor.
    ///
    /// - Parameters:
    ///   - png: The picture.
    ///   - fileName: Its name.
    public func upload(_ png: Data, fileName: String) {
        guard handle == nil else { return }
        state = .uploading(fraction: 0, rate: nil)
        let target = Media.upload(Picture(fileName: fileName, png: png), caption: caption)
        handle = client.media.request(
            target,
            as: StoredPicture.self,
            progress: { [weak self] progress in self?.show(progress) },
            completion: { [weak self] result in self?.finish(result) }
        )
    }

    /// Ends the upload.
    public func cancel() {
        handle?.cancel()
    }

    private func show(_ progress: TransferProgress) {
        guard handle != nil, progress.direction == .upload, let fraction = progress.fraction else { return }
        state = .uploading(fraction: fraction, rate: progress.bytesPerSecond)
    }

    private func finish(_ result: Result<StoredPicture, TargetKitError>) {
        handle = nil
        switch result {
        case .success(let picture): state = .finished(bytes: picture.bytes)
        case .failure(let error) where error.stage == .cancelled: state = .idle
        case .failure(let error): state = .failed(error.localizedDescription)
        }
    }
}
