//! Records a run of the master while another observer follows it.

use super::film::Film;
use super::recording::{Message, Recording};
use crate::description::Value;
use crate::master::extract::ExtractedFmu;
use crate::master::library::{Log, LogMessage};
use crate::master::simulate::{self, Observer, Options, SimulationError};
use crate::model::Model;
use std::io;
use std::sync::{Arc, Mutex};

/// An empty recording of the wanted outputs and inputs of an FMU; with its model, of what these do not tell too.
pub fn empty_recording(
    fmu: &ExtractedFmu,
    model: Option<&Model>,
    wanted: impl Fn(&str) -> bool,
) -> Recording {
    let mut recording = Recording::new(&fmu.description, simulate::recorded(&fmu.description, true), wanted);
    recording.film = model.and_then(|model| Film::of(model, &fmu.description.guid, &recording));
    recording
}

/// Runs the FMU. Samples and messages go to the recording, if there is one, as well as to `log` and `observer`; the
/// recording holds what came before an error.
pub fn run(
    fmu: &ExtractedFmu,
    options: &Options,
    recording: Option<Recording>,
    log: Log,
    observer: &mut dyn Observer,
) -> (Result<(), SimulationError>, Option<Recording>) {
    let shared = Arc::new(Mutex::new(recording));
    let heard = Arc::clone(&shared);
    let log = Box::new(move |line: LogMessage| {
        keep(&heard, line.status.to_string(), &line.message);
        log(line);
    });
    let mut recorder = Recorder { recording: Arc::clone(&shared), observer };
    let result = simulate::run(fmu, options, log, &mut recorder);
    let recording = shared.lock().map_or(None, |mut recording| recording.take());
    (result, recording)
}

struct Recorder<'a> {
    recording: Arc<Mutex<Option<Recording>>>,
    observer: &'a mut dyn Observer,
}

impl Observer for Recorder<'_> {
    fn row(&mut self, time: f64, values: &[Value]) -> io::Result<()> {
        if let Ok(mut recording) = self.recording.lock()
            && let Some(recording) = recording.as_mut()
        {
            recording.push(time, values);
        }
        self.observer.row(time, values)
    }

    fn wants_state(&self) -> bool {
        self.recording.lock().is_ok_and(|recording| {
            recording.as_ref().and_then(|recording| recording.film.as_ref()).is_some_and(Film::is_due)
        })
    }

    fn state(&mut self, bytes: &[u8]) {
        let fault = self.recording.lock().ok().and_then(|mut recording| {
            let film = recording.as_mut()?.film.as_mut()?;
            let fault = film.take(bytes).err();
            if fault.is_some() {
                recording.as_mut()?.film = None;
            }
            fault
        });
        if let Some(fault) = fault {
            self.message(&format!("bodies that the FMU does not show stay still in the report, and contacts of groups are not drawn: {fault}"));
        }
    }

    fn message(&mut self, text: &str) {
        keep(&self.recording, "note".to_owned(), text);
        self.observer.message(text);
    }

    fn progress(&mut self, fraction: f64) {
        self.observer.progress(fraction);
    }
}

/// Keeps a message for the report.
fn keep(recording: &Mutex<Option<Recording>>, kind: String, text: &str) {
    if let Ok(mut recording) = recording.lock()
        && let Some(recording) = recording.as_mut()
    {
        let time = recording.times.last().copied().unwrap_or(0.0);
        recording.tell(Message { time, kind, text: text.to_owned() });
    }
}
