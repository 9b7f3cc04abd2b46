# Open: https://github.com/kubernetes/autoscaler/issues/9891.

@vpa @issue-9891
Feature: What is recommended does not change when the Deployment is created again

  The pods have used a whole processor, and use a tenth of it for the last minutes. What is recommended is for the time when they
  are busy, as long as there are samples of that.

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And the recommender of the Vertical Pod Autoscaler
    And these objects from the file "web.yaml"
    And each pod of "Deployment/web" uses 1 CPU and 1Gi of memory
    When the scenario waits for 20m
    And each pod of "Deployment/web" uses 100m CPU and 1Gi of memory
    And the scenario waits for 3m

  @vpa-9891-target-absent
  Scenario: The recommender is restarted while the Deployment is not there
    When "Deployment/web" is deleted
    And the scenario waits for 1m
    And the target is restarted
    And the scenario waits for 2m
    And these objects from the file "again.yaml" are created
    And the scenario waits for 3m
    Then this holds within 5m:
      """
      throughout: {value: detail.cpu, of: {source: api, verb: patch, resource: verticalpodautoscalers, actor: vpa-recommender}, atLeast: 1000}
      """

  @vpa-9891-not-restarted
  Scenario: The recommender runs on while the Deployment is not there
    When "Deployment/web" is deleted
    And the scenario waits for 3m
    And these objects from the file "again.yaml" are created
    And the scenario waits for 3m
    Then this holds within 5m:
      """
      throughout: {value: detail.cpu, of: {source: api, verb: patch, resource: verticalpodautoscalers, actor: vpa-recommender}, atLeast: 1000}
      """
