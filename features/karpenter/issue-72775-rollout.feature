# https://github.com/kubernetes/kubernetes/issues/72775

@karpenter @issue-72775
Feature: A rollout takes no more machines than its pods need, though these are busy when they start

  Background:
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 10s after their launch and are Ready 1s later
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 2 pods that request 3 CPU is created
    And each pod of "Deployment/web" uses 300m CPU and 64Mi of memory
    And the scenario waits for 5m
    # They start with a lot to do.
    And each pod of "Deployment/web" uses 3 CPU and 64Mi of memory for 2m after its start

  @karpenter-72775-rollout
  Scenario: A HorizontalPodAutoscaler scales at once
    When these objects are created:
      """
      apiVersion: autoscaling/v2
      kind: HorizontalPodAutoscaler
      metadata: {name: web}
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        minReplicas: 2
        maxReplicas: 10
        metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
      """
    And the scenario waits for 2m
    And "Deployment/web" is patched with:
      """
      spec: {template: {metadata: {annotations: {example.com/restarted: "yes"}}}}
      """
    Then "horizontal-pod-autoscaler" never sends "update" of "deployments/scale" within 10m

  # The same, but an answer of the HorizontalPodAutoscaler has to hold for longer than a start takes.
  @karpenter-72775-stabilized
  Scenario: A HorizontalPodAutoscaler scales up when it has wanted to for five minutes
    When these objects are created:
      """
      apiVersion: autoscaling/v2
      kind: HorizontalPodAutoscaler
      metadata: {name: web}
      spec:
        scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
        minReplicas: 2
        maxReplicas: 10
        behavior: {scaleUp: {stabilizationWindowSeconds: 300}}
        metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
      """
    And the scenario waits for 2m
    And "Deployment/web" is patched with:
      """
      spec: {template: {metadata: {annotations: {example.com/restarted: "yes"}}}}
      """
    Then "horizontal-pod-autoscaler" never sends "update" of "deployments/scale" within 10m
