// SPDX-License-Identifier: MIT
import Foundation
import Observation
import ShopAPI
import TargetKit
import TargetKitTesting
import Testing

@testable import ShopScreens

@MainActor @Suite("Upload", .timeLimit(.minutes(1)))
struct UploadModelTests {
    /// Waits for a state of the model, as a screen does.
    private func wait(for model: UploadModel, until isReached: (UploadModel.State) -> Bool) async {
        while !isReached(model.state) {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = model.state
                } onChange: {
                    continuation.resume()
                }
            }
            await Task.yield()
        }
    }

    @Test("An upload is finished when the server has the picture")
    func upload() async throws {
        let world = try ModelCase([.post("/media/pictures"): .targetSample])
        let model = UploadModel(world.client)
        model.caption = "Tea"
        model.upload(Picture.cup.png, fileName: "cup.png")
        #expect(model.state == .uploading(fraction: 0, rate: nil))
        await wait(for: model) { $0 == .finished(bytes: 107) }
    }

    @Test("A second upload doesn't begin before the first has ended; cancelling returns to the start")
    func cancel() async throws {
        let world = try ModelCase([.any: StubResponse.targetSample.after(.seconds(60))])
        let model = UploadModel(world.client)
        model.upload(Picture.cup.png, fileName: "cup.png")
        model.upload(Picture.cup.png, fileName: "cup.png")
        try await world.clock.waitForSleepers()
        model.cancel()
        await wait(for: model) { $0 == .idle }
        #expect(world.calls.requests.count == 1)
    }

    @Test("A picture that the server refuses says why")
    func refused() async throws {
        let model = UploadModel(try ModelCase([.any: .status(415)]).client)
        model.upload(Data("text".utf8), fileName: "text.png")
        await wait(for: model) { if case .failed = $0 { true } else { false } }
    }
}
