import TargetKit

let provider = Provider<Shop>()
let product = try await provider.request(.product(id: 7), as: Product.self)
print(product.name)
