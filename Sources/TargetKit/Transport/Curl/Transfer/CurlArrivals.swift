// SPDX-License-Identifier: MIT
#if os(Linux)
/// The streamed bodies that received bytes in this round of the loop. Their readers are woken once at its end, instead
/// of for each 16 KiB from libcurl.
final class CurlArrivals {
    private var channels: [BodyChannel] = []

    func note(_ channel: BodyChannel) {
        if channels.last !== channel { channels.append(channel) }
    }

    func flush() {
        for channel in channels { channel.flush() }
        channels.removeAll(keepingCapacity: true)
    }
}
#endif
