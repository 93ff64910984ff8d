// Why work of a control plane ends that closes, as the reason of its signals. Made once: each signal that ends without a reason
// makes an error of its own, whose stack costs more than all else of an ending.

export const controlPlaneClosed = new Error("the control plane is closed")
