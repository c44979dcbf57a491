// SPDX-License-Identifier: MIT
import TargetKitPlugins
import TestSupport
import Testing

@Suite("Message digests", .throttled)
struct MessageDigestTests {
    @Test(
        "Messages of each length around a block have the digests that Python's hashlib computes",
        arguments: [
            (0, "d41d8cd98f00b204e9800998ecf8427e", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (1, "0cc175b9c0f1b6a831c399e269772661", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"),
            (
                55, "ef1772b6dff9a122358552954ad0df65",
                "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"
            ),
            (
                56, "3b0c8ac703f828b04c6c197006d17218",
                "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"
            ),
            (
                63, "b06521f39153d618550606be297466d5",
                "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"
            ),
            (
                64, "014842d480b571495a4a0363793f7367",
                "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"
            ),
            (
                65, "c743a45e0d2e6a95cb859adae0248435",
                "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"
            ),
            (
                119, "8a7bd0732ed6a28ce75f6dabc90e1613",
                "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"
            ),
            (
                120, "5f61c0ccad4cac44c75ff505e1f1e537",
                "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"
            ),
            (
                1000, "cabe45dcc9ae5b66ba86600cca6b8ba8",
                "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"
            ),
        ]
    )
    func lengths(_ count: Int, _ md5: String, _ sha256: String) {
        let text = String(repeating: "a", count: count)
        #expect(MessageDigest.md5.hexadecimal(of: text) == md5)
        #expect(MessageDigest.sha256.hexadecimal(of: text) == sha256)
    }

    @Test("The examples of RFC 1321 §A.5 and FIPS 180-4")
    func examples() {
        #expect(MessageDigest.md5.hexadecimal(of: "message digest") == "f96b697d7cb7938d525a2f31aaf161d0")
        #expect(
            MessageDigest.sha256.hexadecimal(of: "abc")
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        )
    }
}
