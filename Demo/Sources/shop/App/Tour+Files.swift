// SPDX-License-Identifier: MIT
import Foundation
import ShopAPI
import TargetKit
import TargetKitPlugins

// MARK: - Pictures and films

extension Tour {
    func upload() async throws {
        let picture = Picture.cup
        console.step(
            Phrase("Upload", "上传"),
            asks: Phrase(
                "POST /media/pictures as multipart: a caption and \(picture.png.count) bytes of PNG",
                "POST /media/pictures，multipart：标题和 \(picture.png.count) 字节的 PNG"
            )
        )
        let stored = try await client.media.request(
            .upload(picture, caption: "Thé à la menthe"),
            as: StoredPicture.self,
            options: .setting(\.idempotencyKey, UUID().uuidString)
        )
        try check(stored.bytes == picture.png.count, "every byte should arrive")
        try check(stored.caption == "Thé à la menthe", "the caption should arrive as it is")
        let size = "\(stored.width)×\(stored.height)"
        console.got(Phrase(same: "\(stored.fileName), \(stored.contentType), \(size), “\(stored.caption)”"))
    }

    /// Shows the progress as it goes.
    func download() async throws {
        console.step(
            Phrase("Download", "下载"),
            asks: Phrase("GET /media/film, 6 MB, into a file", "GET /media/film，6 MB，存为文件")
        )
        let file = FileManager.default.temporaryDirectory.appending(path: "shop-film-\(UUID()).mp4")
        defer { try? FileManager.default.removeItem(at: file) }
        let last = Guarded<TransferProgress?>(nil)
        _ = try await client.films.response(to: .download(into: file)) { progress in
            last.withLock { $0 = progress }
            console.progress(progress)
        }
        console.endProgress()
        let bytes = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
        try check(bytes == 6_000_000, "the file should have 6,000,000 bytes, not \(bytes)")
        let rate = last.value?.bytesPerSecond.map { "\(ProgressLine.bytes($0))/s" } ?? "?"
        console.got(Phrase("\(bytes) bytes, at \(rate)", "\(bytes) 字节，\(rate)"))
    }
}
