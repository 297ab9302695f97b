//! What is known of each source of a catalog.

use crate::{
    catalog::{
        bundles::{Bundles, Exclusion},
        opened::Catalog,
        prepared::{Preparation, Prepared},
    },
    disk::events::EventQueue,
    document::{
        problem::{Problem, Reported},
        remark::Remarks,
    },
    error::Error,
    manifest::{snapshot::Snapshot, source::Role},
    work::task::Task,
};
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

/// What is known of one source.
#[derive(Debug, Default)]
pub struct SourceReport {
    /// Its position in the snapshot.
    pub source: u32,
    /// Where its bundle is, if it was entered.
    pub directory: Option<PathBuf>,
    /// How many concepts it has.
    pub concepts: usize,
    /// Files that are none, sorted by path.
    pub problems: Vec<Problem>,
    /// Remarks on files that are served and on names that are passed over (B11).
    pub remarks: Remarks,
    /// The source before it, in order S1, that names the same directory.
    pub duplicate_of: Option<u32>,
    /// Why the source is unavailable, if it is.
    pub failure: Option<String>,
    /// Why the bundle is compared with the disk, before each search unless it says otherwise; `None` if the
    /// kernel tells of every change that it can tell of.
    pub compared_because: Option<String>,
}

impl Catalog {
    /// What is known of each source of the snapshot, in the order of the manifest.
    ///
    /// # Errors
    /// [`Error::Closed`], or [`Error::Abandoned`] if the task was.
    pub fn report(
        &self,
        snapshot: &Arc<Snapshot>,
        task: &Task,
    ) -> Result<Reported<Vec<SourceReport>>, Error> {
        let all = || (0_u32..).take(snapshot.sources.len());
        let is_memory = |&at: &u32| {
            let source = &snapshot.sources[at as usize];
            source.enabled && source.role == Role::Memory
        };
        let memories: Vec<u32> = all().filter(is_memory).collect();
        let mut prepared = Prepared::default();
        self.prepare(&mut prepared, snapshot, snapshot.candidates(), task)?;
        self.count_memories(&mut prepared, snapshot, &memories, task)?;
        let duplicates = duplicates(&prepared, [snapshot.candidates(), &memories].concat());
        let reports = all().map(|source| {
            let mut report = SourceReport {
                source,
                duplicate_of: duplicates.get(&source).copied(),
                ..SourceReport::default()
            };
            if snapshot.sources[source as usize].enabled {
                report.fill(&prepared, memories.contains(&source));
            }
            report
        });
        Ok(Reported { value: reports.collect(), problems: prepared.new_problems })
    }

    /// Adds the memory sources, whose scopes are only counted: nothing of them is kept or watched.
    fn count_memories(
        &self,
        prepared: &mut Prepared,
        snapshot: &Snapshot,
        memories: &[u32],
        task: &Task,
    ) -> Result<(), Error> {
        let (process, bundles, events) = (self.open_process()?, Bundles::default(), EventQueue::disabled());
        let preparation =
            Preparation { bundles: &bundles, events: &events, ..self.preparation(&process, task) };
        let reported = prepared.new_problems.len();
        prepared.add(snapshot, memories, preparation)?;
        // Reading a memory reports its problems once; here they would be new at every report.
        prepared.new_problems.truncate(reported);
        Ok(())
    }
}

/// The sources, of these in order S1, that have the directory of an earlier one.
fn duplicates(prepared: &Prepared, sources: Vec<u32>) -> BTreeMap<u32, u32> {
    let mut first = BTreeMap::new();
    let mut duplicates = BTreeMap::new();
    for source in sources {
        if let Ok(ready) = prepared.get(source) {
            let original = *first.entry(ready.identity).or_insert(source);
            if original != source {
                duplicates.insert(source, original);
            }
        }
    }
    duplicates
}

impl SourceReport {
    fn fill(&mut self, prepared: &Prepared, is_memory: bool) {
        match prepared.get(self.source) {
            Err(unavailable) => {
                self.failure = Some(unavailable.reason.clone());
                if unavailable.exclusion == Some(Exclusion::AmongMemories) {
                    self.remarks = Remarks::of_memories("", &unavailable.reason);
                }
            }
            Ok(ready) => {
                self.directory = Some(ready.directory.to_path_buf());
                self.concepts = ready.state.index.len();
                self.problems = ready.state.problems.to_vec();
                self.remarks = ready.state.remarks();
                if !is_memory {
                    self.compared_because = ready.state.reported_because().map(str::to_owned);
                }
            }
        }
    }
}
