# https://github.com/kubernetes/autoscaler/issues/7147: recommendations that no machine of the cluster has room for.

@vpa @issue-7147
Feature: A recommender recommends no more than it is told that machines have

  @vpa-7147-capped
  Scenario: Pods use nearly all that the largest machine has
    Given a cluster
    And a Ready Node "system" for system pods only
    And the recommender of the Vertical Pod Autoscaler with the flags:
      | container-recommendation-max-allowed-cpu | 3500m |
    And these objects from the file "web.yaml"
    When each pod of "Deployment/web" uses 3800m CPU and 1Gi of memory
    Then this holds within 10m:
      """
      throughout: {value: detail.cpu, of: {source: api, verb: patch, resource: verticalpodautoscalers, actor: vpa-recommender}, atMost: 3500}
      """
    And this holds:
      """
      eventually: {value: detail.cpu, of: {source: api, verb: patch, resource: verticalpodautoscalers, actor: vpa-recommender}, is: 3500}
      ever: true
      """
