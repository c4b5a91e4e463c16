//! The strongly connected components of a graph.

use std::collections::{BTreeMap, BTreeSet};

/// Returns a number for each node that is in a circle; two nodes of the same component have the same number.
///
/// The search takes time linear in the size of the graph, and needs no recursion (Kosaraju).
pub(super) fn components<N: Copy + Ord>(graph: &BTreeMap<N, BTreeSet<N>>) -> BTreeMap<N, usize> {
    let mut reversed: BTreeMap<N, BTreeSet<N>> = BTreeMap::new();
    for (from, to) in graph.iter().flat_map(|(from, to)| to.iter().map(move |to| (*from, *to))) {
        reversed.entry(to).or_default().insert(from);
    }
    let mut order = Vec::new();
    let mut seen = BTreeSet::new();
    for node in graph.keys() {
        visit(*node, graph, &mut seen, &mut order);
    }
    let (mut numbers, mut seen) = (BTreeMap::new(), BTreeSet::new());
    for (number, node) in order.into_iter().rev().enumerate() {
        let mut component = Vec::new();
        visit(node, &reversed, &mut seen, &mut component);
        if component.len() > 1 {
            numbers.extend(component.into_iter().map(|node| (node, number)));
        }
    }
    numbers
}

/// Adds all nodes that a node reaches and that are not seen yet, each one after those that it reaches.
fn visit<N: Copy + Ord>(
    start: N,
    graph: &BTreeMap<N, BTreeSet<N>>,
    seen: &mut BTreeSet<N>,
    order: &mut Vec<N>,
) {
    // Each entry is a node with the nodes behind it that are still to visit.
    let mut path = Vec::new();
    let next = |node: &N| graph.get(node).into_iter().flatten().copied().collect::<Vec<N>>();
    if seen.insert(start) {
        path.push((start, next(&start)));
    }
    while let Some((node, ahead)) = path.last_mut() {
        match ahead.pop() {
            Some(to) if seen.insert(to) => path.push((to, next(&to))),
            Some(_) => {}
            None => {
                order.push(*node);
                path.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(edges: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut graph: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (from, to) in edges {
            graph.entry(*from).or_default().insert(*to);
        }
        let mut nodes: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (node, number) in components(&graph) {
            nodes.entry(number).or_default().push(node);
        }
        let mut circles: Vec<Vec<u32>> = nodes.into_values().collect();
        circles.sort();
        circles
    }

    #[test]
    fn nodes_of_a_circle_are_one_component() {
        assert!(circles(&[]).is_empty());
        assert!(circles(&[(1, 2), (2, 3), (1, 3), (4, 3)]).is_empty(), "no circle");
        assert_eq!(circles(&[(1, 2), (2, 1), (2, 3)]), [[1, 2]]);
        let two = [(1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4), (0, 1)];
        assert_eq!(circles(&two), [vec![1, 2, 3], vec![4, 5]]);
    }

    #[test]
    fn a_long_path_needs_no_deep_recursion() {
        let path: Vec<(u32, u32)> = (0..100_000).map(|node| (node, node + 1)).collect();
        assert!(circles(&path).is_empty());
        let closed: Vec<(u32, u32)> = path.into_iter().chain([(100_000, 0)]).collect();
        assert_eq!(circles(&closed).first().map(Vec::len), Some(100_001));
    }
}
