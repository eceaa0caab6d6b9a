//! Ids of nodes.

use serde::{Deserialize, Serialize};

/// Of a node: 16 hexadecimal digits in documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct NodeId(pub u64);

impl From<NodeId> for String {
    fn from(id: NodeId) -> String {
        format!("{:016x}", id.0)
    }
}

impl TryFrom<String> for NodeId {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<NodeId, Self::Error> {
        u64::from_str_radix(&text, 16).map(NodeId)
    }
}
